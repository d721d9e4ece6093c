import { useState } from "preact/hooks";
import type { Field, FieldTexts } from "./field.tsx";
import { FieldFrame } from "./field.tsx";

const seconds = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
export type TimeUnit = keyof typeof seconds;
const units: readonly TimeUnit[] = ["seconds", "minutes", "hours", "days"];

/** A length of time, which the agent gives in any unit. `unit`: that of the value. */
export function DurationField(
  props: FieldTexts & {
    readonly of: Field<number | null>;
    readonly unit: TimeUnit;
    readonly required?: boolean;
    readonly placeholder?: string;
  },
) {
  const { of: field, label, hint, optional, unit, required, placeholder } = props;
  const [chosen, setChosen] = useState<TimeUnit>(() => roundUnit(field.value, unit));
  const factor = seconds[chosen] / seconds[unit];
  const offered = units.filter((each) => seconds[each] >= seconds[unit]);
  return (
    <FieldFrame of={field} label={label} hint={hint} {...(optional !== undefined && { optional })}>
      {(attributes) => (
        <span class="with-unit">
          <input
            {...attributes}
            type="number"
            min={0}
            step="any"
            required={required}
            placeholder={placeholder}
            value={field.value === null ? "" : field.value / factor}
            onInput={({ currentTarget }) => {
              const { valueAsNumber } = currentTarget;
              field.set(Number.isNaN(valueAsNumber) ? null : Math.round(valueAsNumber * factor));
            }}
          />
          <select
            aria-label={`${label}: unit`}
            value={chosen}
            onChange={({ currentTarget }) => {
              const next = units.find((each) => each === currentTarget.value) ?? unit;
              // The number stays, and means another time.
              if (field.value !== null) field.set(Math.round((field.value / factor) * (seconds[next] / seconds[unit])));
              setChosen(next);
            }}
          >
            {offered.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </span>
      )}
    </FieldFrame>
  );
}

/** The largest unit in which the value is a whole number. */
function roundUnit(value: number | null, unit: TimeUnit): TimeUnit {
  if (value === null || value === 0) return unit;
  const whole = units.filter((each) => seconds[each] >= seconds[unit] && (value * seconds[unit]) % seconds[each] === 0);
  return whole.at(-1) ?? unit;
}
