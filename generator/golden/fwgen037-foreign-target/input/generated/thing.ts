// Written by hand.
export const precious = true;
