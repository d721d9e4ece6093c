import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { memberOf } from "#web/dashboard/ui/fields/field.tsx";
import { SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { NumberField, TextField } from "#web/dashboard/ui/fields/text.tsx";

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
const titled = (word: string): string => word[0]?.toUpperCase() + word.slice(1);

/** Business hours in the form of the configuration. */
export interface Hours {
  readonly timezone: string;
  readonly holidays?: readonly string[];
  readonly [day: string]: string | readonly string[] | undefined;
}

const usual: Hours = {
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  ...Object.fromEntries(days.slice(0, 5).map((day) => [day, ["09:00-17:00"]])),
};

/** When somebody is there; null: not known. */
export function HoursFields({ of: field }: { readonly of: Field<Hours | null> }) {
  const hours = field.value;
  const own: Field<Hours> | undefined = hours === null ? undefined : { ...field, value: hours };
  return (
    <>
      <SwitchField
        of={{ name: "business_hours", value: hours !== null, set: (on) => field.set(on ? usual : null), errors: {} }}
        label="Business hours"
        hint="The bot says when people are there. Rules can act on it."
      />
      {own !== undefined && (
        <>
          <TextField of={memberOf(own, "timezone")} label="Time zone" hint="Such as Europe/Berlin." mono />
          {days.map((day) => (
            <TagsField
              key={day}
              of={listOf(own, day)}
              label={titled(day)}
              placeholder="09:00-17:00"
              hint={own.value[day] === undefined ? "Closed." : "Press Enter after each."}
            />
          ))}
          <TagsField of={listOf(own, "holidays")} label="Holidays" placeholder="2027-12-25" optional />
        </>
      )}
    </>
  );
}

/** A list of the hours, which is absent when it is empty. */
const listOf = ({ name, value, set, errors }: Field<Hours>, key: string): Field<readonly string[]> => ({
  name: `${name}.${key}`,
  value: (value[key] as readonly string[] | undefined) ?? [],
  set: (list) => {
    const { [key]: _, timezone, ...rest } = value;
    set({ timezone, ...rest, ...(list.length > 0 && { [key]: list }) });
  },
  errors,
});

const priorities = ["urgent", "high", "normal", "low"] as const;
export type Targets = Readonly<Record<(typeof priorities)[number], number>>;

/** Minutes that a conversation may wait, by priority. */
export function TargetFields({ of: field }: { readonly of: Field<Targets> }) {
  return (
    <>
      {priorities.map((priority) => {
        const { set, ...rest } = memberOf(field, priority);
        return (
          <NumberField
            key={priority}
            of={{ ...rest, set: (value) => set(value ?? 1) }}
            label={`Reply to ${priority} conversations within`}
            min={1}
            max={100_000}
            unit="minutes"
            required
          />
        );
      })}
    </>
  );
}
