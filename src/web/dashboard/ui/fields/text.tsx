import { useLayoutEffect, useRef } from "preact/hooks";
import { fitHeight } from "#web/shared/ui/fit-height.ts";
import type { Field, FieldTexts } from "./field.tsx";
import { FieldFrame } from "./field.tsx";

interface TextProps extends FieldTexts {
  readonly of: Field<string>;
  readonly type?: "text" | "email" | "url" | "password" | "search" | "time" | "date";
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly autocomplete?: string;
  /** Code, identifiers, addresses: in a font of equal widths, from left to right. */
  readonly mono?: boolean;
}

/** A line of text; also a time ("09:30") or a date ("2027-12-24"). */
export function TextField({ of: field, label, hint, optional, mono = false, type = "text", ...rest }: TextProps) {
  // Preact's types know one kind of field at a time.
  const oneType: { readonly type: "text" } = { type: type as "text" };
  return (
    <FieldFrame of={field} label={label} hint={hint} {...(optional !== undefined && { optional })}>
      {(attributes) => (
        <input
          {...attributes}
          {...rest}
          {...oneType}
          class={mono ? "mono" : undefined}
          dir={mono || type === "email" || type === "url" ? "ltr" : "auto"}
          value={field.value}
          onInput={({ currentTarget }) => field.set(currentTarget.value)}
        />
      )}
    </FieldFrame>
  );
}

interface NumberProps extends FieldTexts {
  /** Null: empty. */
  readonly of: Field<number | null>;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly required?: boolean;
  readonly placeholder?: string;
  /** Shown behind the number, such as "days". */
  readonly unit?: string;
}

/** A number. */
export function NumberField({ of: field, label, hint, optional, unit, step = 1, ...rest }: NumberProps) {
  return (
    <FieldFrame of={field} label={label} hint={hint} {...(optional !== undefined && { optional })}>
      {(attributes) => (
        <span class="with-unit">
          <input
            {...attributes}
            {...rest}
            type="number"
            inputMode={step === 1 ? "numeric" : "decimal"}
            step={step}
            value={field.value ?? ""}
            onInput={({ currentTarget }) => {
              const { valueAsNumber } = currentTarget;
              field.set(Number.isNaN(valueAsNumber) ? null : valueAsNumber);
            }}
          />
          {unit !== undefined && <span class="unit">{unit}</span>}
        </span>
      )}
    </FieldFrame>
  );
}

interface TextAreaProps extends FieldTexts {
  readonly of: Field<string>;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly mono?: boolean;
}

const highestPx = 640;

/** Lines of text. The field grows with them. */
export function TextAreaField({ of: field, label, hint, optional, mono = false, rows = 4, ...rest }: TextAreaProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => fitHeight(area.current, highestPx), [field.value]);
  return (
    <FieldFrame of={field} label={label} hint={hint} {...(optional !== undefined && { optional })}>
      {(attributes) => (
        <textarea
          {...attributes}
          {...rest}
          ref={area}
          rows={rows}
          class={mono ? "mono" : undefined}
          dir={mono ? "ltr" : "auto"}
          value={field.value}
          onInput={({ currentTarget }) => field.set(currentTarget.value)}
        />
      )}
    </FieldFrame>
  );
}

/** A colour, such as "#1f6feb". */
export function ColourField({ of: field, label, hint, optional }: FieldTexts & { readonly of: Field<string> }) {
  return (
    <FieldFrame of={field} label={label} hint={hint} {...(optional !== undefined && { optional })}>
      {(attributes) => (
        <span class="with-unit">
          <input
            type="color"
            aria-label={`${label}: choose`}
            value={/^#[0-9a-f]{6}$/iu.test(field.value) ? field.value : "#000000"}
            onInput={({ currentTarget }) => field.set(currentTarget.value)}
          />
          <input
            {...attributes}
            class="mono short"
            dir="ltr"
            pattern="#[0-9a-fA-F]{6}"
            title="# and six digits or letters from a to f"
            maxLength={7}
            value={field.value}
            onInput={({ currentTarget }) => field.set(currentTarget.value)}
          />
        </span>
      )}
    </FieldFrame>
  );
}
