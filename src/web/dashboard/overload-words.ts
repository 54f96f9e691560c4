/** What an operator reads while callers are refused by layers 2 and 3: why, and what to do, by the code they are told. */
export const EVERYONE_WAITS: Readonly<Record<string, { headline: string; todo: string }>> & {
  readonly queue_full: { headline: string; todo: string };
} = {
  queue_full: {
    headline: "The queue is full: more work arrives than is finished, and callers are refused.",
    todo: "It ends when less arrives than is finished. A larger bound only makes the wait longer.",
  },
  request_limit: {
    headline: "As many commands are in flight as flow control allows, and callers are refused.",
    todo: "The limit follows how long commands take: look at what is behind the engine, then at flow control.",
  },
  write_limit: {
    headline: "More commands arrive a second than the write limit allows, and callers are refused.",
    todo: "If what is behind the engine bears more, raise the write rate under flow control.",
  },
  engine_paused: {
    headline: "The engine was paused until just now; callers were refused.",
    todo: "Nothing needs to be done.",
  },
  storage_full: {
    headline: "The engine's disk is short of space, and callers are refused.",
    todo: "It ends by itself when space is freed: keep finished work for less long, or take tenants away that hold much.",
  },
};
