export const QUEUE = "bench";
