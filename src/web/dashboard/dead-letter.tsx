import { Dialog } from "../shared/dialog.tsx";
import { useScroller } from "../shared/scroller.ts";
import { inWords } from "./admin.ts";
import { useReading } from "./context.ts";
import type { DeadLetter } from "./shapes.ts";

/** One dead letter whole, with what it would be sent again with. */
export function Letter({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { value, fault } = useReading<DeadLetter>(`/admin/dead-letters/${encodeURIComponent(id)}`, 60_000);
  return (
    <Dialog title="Dead letter" onClose={onClose}>
      {fault !== null && (
        <p class="notice" data-tone="warn">
          {inWords(fault)}
        </p>
      )}
      {value === null && fault === null && <p class="muted">Asking …</p>}
      {value !== null && <Whole letter={value} />}
    </Dialog>
  );
}

function Whole({ letter }: { readonly letter: DeadLetter }) {
  const place = useScroller<HTMLPreElement>("The dead letter as JSON");
  return (
    <pre class="code" ref={place}>
      {JSON.stringify(letter, null, 2)}
    </pre>
  );
}
