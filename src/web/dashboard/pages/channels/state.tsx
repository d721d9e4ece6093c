import type { Tone } from "#web/dashboard/ui/marks.tsx";
import { Badge, Callout, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import type { ChannelAccount } from "./types.ts";

const states: Readonly<Record<ChannelAccount["state"], readonly [Tone, string]>> = {
  connected: ["good", "Connected"],
  waiting: ["good", "Ready"],
  starting: ["wait", "Starting"],
  broken: ["bad", "Not connected"],
  paused: ["neutral", "Paused"],
  disabled: ["neutral", "Disabled"],
};

export function ChannelState({ of: { state } }: { readonly of: ChannelAccount }) {
  const [tone, label] = states[state];
  return <Badge tone={tone}>{label}</Badge>;
}

/** The last failure. It stays after the account has recovered, with its time. */
export function LastError({ of: { error, error_at: at, state } }: { readonly of: ChannelAccount }) {
  if (error === null) return null;
  return (
    <Callout tone={state === "broken" ? "bad" : "neutral"}>
      <p>
        <b>{state === "broken" ? "Error" : "Last error"}</b>
        {at !== null && (
          <>
            {" "}
            (<RelativeTime at={at} />)
          </>
        )}
        : {error}
      </p>
    </Callout>
  );
}
