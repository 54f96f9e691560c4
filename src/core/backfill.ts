/**
 * How many deferred commands may be taken up: none while half of the places or more are in use, else up to that half.
 * The other half is always left to what comes now, so that old work never starves fresh work.
 *
 * @param depth commands in the queue
 * @param places how many there may be
 */
export function backfillRoom(depth: number, places: number): number {
  // Of a single place there is no half: it is taken when it is free.
  return Math.max(0, Math.max(1, Math.floor(places / 2)) - depth);
}
