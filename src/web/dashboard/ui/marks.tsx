import type { ComponentChildren } from "preact";
import type { Shape } from "#web/shared/ui/elements.tsx";
import { Icon } from "#web/shared/ui/elements.tsx";
import { useRelativeTime } from "#web/shared/ui/clocks.tsx";
import { ago, dateAndTime } from "#web/shared/ui/time.ts";
import { icons } from "./icons.ts";

export type Tone = "good" | "bad" | "wait" | "neutral";

const toneShapes: Readonly<Record<Tone, Shape>> = { good: "check", bad: "alert", wait: "clock", neutral: icons.dot };

/** A short state, such as "Connected". Its shape and text say what its colour says. */
export const Badge = ({
  tone = "neutral",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) => (
  <span class={`badge ${tone}`}>
    <Icon name={toneShapes[tone]} />
    {children}
  </span>
);

/** Says that the configuration file declares this, so that it cannot be changed here. */
export const ManagedByFile = () => (
  <span class="badge neutral managed">
    <Icon name="lock" />
    Managed by the configuration file
  </span>
);

/** A line or two that must be seen before something is done. */
export const Callout = ({
  tone = "neutral",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) => (
  <div class={`callout ${tone}`}>
    <Icon name={toneShapes[tone]} />
    <div>{children}</div>
  </div>
);

/** A time such as "5 min" that stays right, with the date as its title. `at`: epoch milliseconds or ISO 8601. */
export function RelativeTime({ at, none = "never" }: { readonly at: number | string | null; readonly none?: string }) {
  return at === null ? <span class="soft">{none}</span> : <KnownTime at={new Date(at).getTime()} />;
}

const KnownTime = ({ at }: { readonly at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={dateAndTime(at)}>
    {useRelativeTime(ago, at)}
  </time>
);

/** How far something is. `share`: 0 to 1. */
export function ProgressBar({ label, share }: { readonly label: string; readonly share: number }) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <div class="progress">
      <progress aria-label={label} max={100} value={percent} />
      <span aria-hidden="true">{percent} %</span>
    </div>
  );
}
