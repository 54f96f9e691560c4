import { ActionButton } from "./action.tsx";
import { useDesk } from "./context.ts";
import type { AdminQueue } from "./shapes.ts";

/** Pause, with and without taking commands, and resume. */

export function EngineSwitch({ queue }: { readonly queue: AdminQueue }) {
  const { mayWrite, change } = useDesk();
  if (!mayWrite) return <p class="muted">The viewer token may only look; pausing needs the admin token.</p>;
  const pause = (accept: boolean) => () => change("POST", "/admin/engine/pause", { accept });
  const { paused, accepting } = queue;
  return (
    <div class="buttons">
      {paused && <ActionButton label="Resume" tone="primary" run={() => change("POST", "/admin/engine/resume")} />}
      {!paused && (
        <ActionButton
          label="Pause"
          question={{
            title: "Pause the engine?",
            text: "Nothing more is started; what runs is finished. New commands are still taken, up to the bound or the limit in flight, and wait until you resume.",
          }}
          run={pause(true)}
        />
      )}
      {accepting && (
        <ActionButton
          label={paused ? "Refuse new commands" : "Pause and refuse"}
          tone="danger"
          question={{
            title: paused ? "Refuse new commands too?" : "Pause the engine and refuse new commands?",
            text: "Every caller gets 503 engine_paused with a time to come back, except for critical commands, which are always taken. What waits already is kept.",
          }}
          run={pause(false)}
        />
      )}
      {paused && !accepting && (
        <ActionButton
          label="Take new commands"
          question={{
            title: "Take new commands again?",
            text: "The engine stays paused; new commands are taken up to the bound or the limit in flight, and wait.",
          }}
          run={pause(true)}
        />
      )}
    </div>
  );
}
