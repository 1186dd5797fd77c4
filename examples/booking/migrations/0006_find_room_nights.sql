create unique index room_nights_hotel_id_night_key on room_nights (hotel_id, night);
