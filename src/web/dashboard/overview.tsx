import { Frame } from "../shared/frame.tsx";
import { lazily, WhenNear } from "../shared/lazily.tsx";
import type { Fault } from "./admin.ts";
import { DeskContext, useNewDesk } from "./context.ts";
import { Live } from "./live.tsx";
import type { SignedIn } from "./session.ts";
import { TopTenants } from "./top-tenants.tsx";

/** What is seen by who is signed in, the most urgent first. */

const Further = lazily(() => import("./further.tsx").then((file) => file.Further));

export interface OverviewProps {
  readonly session: SignedIn;
  /** Signs out. @param fault what the token met, where it holds no more */
  readonly onLeave: (fault: Fault | null) => void;
}

export function Overview({ session, onLeave }: OverviewProps) {
  const desk = useNewDesk(session, onLeave);
  return (
    <DeskContext.Provider value={desk}>
      <Frame
        current="/dashboard"
        aside={
          <>
            <span class="badge">{session.actor === "admin" ? "Admin" : "Read only"}</span>
            <button type="button" class="quiet" onClick={() => onLeave(null)}>
              Sign out
            </button>
          </>
        }
      >
        <h1 class="visually-hidden">Dashboard</h1>
        <Live />
        <TopTenants />
        <WhenNear>
          <Further />
        </WhenNear>
      </Frame>
    </DeskContext.Provider>
  );
}
