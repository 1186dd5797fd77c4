import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
class Hidden extends Model<Hidden, Id<Hidden>, 'NEW'> {}

@AutoBuilder
class Renamed extends Model<Renamed, Id<Renamed>, 'NEW'> {}

export { Renamed as Visible };
