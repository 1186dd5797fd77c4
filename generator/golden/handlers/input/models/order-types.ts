export type OrderState = 'PLACED' | 'SHIPPED' | 'CANCELLED';

const PRIORITIES = ['LOW', 'HIGH'] as const;
export type Priority = (typeof PRIORITIES)[number];
