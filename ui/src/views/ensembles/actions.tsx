import { useState } from "preact/hooks";
import { post } from "../../api/client";
import type { Run, RunAction } from "../../api/types";
import { put } from "../../app/live";
import { mayPlay } from "../../app/session";
import { attempt } from "../../app/toasts";
import { Confirm } from "../../parts/dialog";
import { Icon, type IconName } from "../../parts/icon";

const NAMES: Record<RunAction, [string, IconName]> = {
  pause: ["Pause", "pause"],
  resume: ["Resume", "play"],
  cancel: ["Cancel", "stop"],
  retry: ["Retry", "retry"],
};

/** Buttons for what can be done with a run now; none for a token that cannot play. */
export function Actions({ run, wide }: { run: Run; wide?: boolean }) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  if (!mayPlay.value) return null;
  const act = async (action: RunAction) => {
    setBusy(true);
    await attempt(async () => {
      put(await post<Run>(`/api/v1/${action}`, { ensemble: run.ensemble }));
    });
    setBusy(false);
  };
  return (
    <span class="actions">
      {run.can.map((action) => {
        const [name, icon] = NAMES[action];
        return (
          <button
            key={action}
            class={wide ? "small" : "quiet"}
            disabled={busy}
            aria-label={`${name} ${run.ensemble}`}
            title={name}
            onClick={() => (action === "cancel" ? setAsking(true) : void act(action))}
          >
            <Icon name={icon} />
            {wide && name}
          </button>
        );
      })}
      {asking && (
        <Confirm
          title={`Cancel ${run.ensemble}?`}
          verb="Cancel the run"
          onConfirm={() => act("cancel")}
          onClose={() => setAsking(false)}
        >
          No further worlds are played. Stored worlds stay.
        </Confirm>
      )}
    </span>
  );
}
