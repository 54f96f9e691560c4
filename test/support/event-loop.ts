/** Lets calls that are under way reach their objects: turns of the event loop, not time. */
export async function settled(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await scheduler.wait(0);
}
