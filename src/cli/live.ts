/**
 * Output that changes while something runs: on a terminal a block that is redrawn in place, elsewhere (a file, a pipe)
 * a plain line each time.
 */

export interface LiveStream {
  readonly isTTY?: boolean;
  /** Some terminals say 0 for a width that they do not know. */
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Live {
  /**
   * @param block what a terminal shows; lines that are too long for it are cut, or the next redraw would miss its place
   * @param line what is written elsewhere
   */
  show(block: readonly string[], line: string): void;
  /** Leaves what is shown where it is; what is written next begins below it. */
  end(): void;
}

const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const COLUMNS_UNKNOWN = 80;

/** @param stream where to write: a terminal when it says so itself */
export function liveOutput(stream: LiveStream): Live {
  let shown = 0;
  return {
    show(block, line) {
      if (stream.isTTY !== true) {
        stream.write(`${line}\n`);
        return;
      }
      // One column is left free: a line that fills the last one may wrap.
      const width = (stream.columns || COLUMNS_UNKNOWN) - 1;
      const up = shown === 0 ? "" : `\x1b[${shown}A`;
      const lines = block.map((text) => `${text.slice(0, width)}${CLEAR_LINE}\n`);
      stream.write(`${up}\r${lines.join("")}${CLEAR_BELOW}`);
      shown = block.length;
    },
    end() {
      shown = 0;
    },
  };
}
