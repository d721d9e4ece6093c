import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A value of a form: its name in the request, its current value, and errors of the server by name. */
export interface Field<T> {
  readonly name: string;
  readonly value: T;
  readonly set: (value: T) => void;
  readonly errors: Readonly<Record<string, string>>;
}

/** Texts of a field. */
export interface FieldTexts {
  readonly label: string;
  /** A sentence below the label. */
  readonly hint?: ComponentChildren;
  /** Marks the field as one that may be empty. */
  readonly optional?: boolean;
}

/** Attributes of the control that is labelled. */
export interface ControlAttributes {
  readonly id: string;
  readonly name: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

/** A member of a field that holds an object. */
export function memberOf<T extends object, K extends keyof T & string>(field: Field<T>, key: K): Field<T[K]> {
  const { name, value, set, errors } = field;
  const full = name === "" ? key : `${name}.${key}`;
  return { name: full, value: value[key], set: (next) => set({ ...value, [key]: next }), errors };
}

/** The label, hint and error of a control. The form finds a field by `data-field` to show an error of the server there. */
export function FieldFrame(
  props: FieldTexts & {
    readonly of: Pick<Field<unknown>, "name" | "errors">;
    /** Several controls, so that the label is that of a group. */
    readonly isGroup?: boolean;
    readonly children: (attributes: ControlAttributes) => ComponentChildren;
  },
) {
  const { label, hint, optional = false, of: field, isGroup = false, children } = props;
  const id = useId();
  const error = field.errors[field.name];
  const described = [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`]
    .filter((each) => each !== "")
    .join(" ");
  const text = (
    <>
      {label}
      {optional && <span class="optional"> (optional)</span>}
    </>
  );
  return (
    <div
      class={error === undefined ? "field" : "field wrong"}
      data-field={field.name}
      role={isGroup ? "group" : undefined}
      aria-labelledby={isGroup ? `${id}-label` : undefined}
      aria-describedby={isGroup && described !== "" ? described : undefined}
    >
      {isGroup ? (
        <span class="field-label" id={`${id}-label`}>
          {text}
        </span>
      ) : (
        <label class="field-label" for={id}>
          {text}
        </label>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children({
        id,
        name: field.name,
        "aria-describedby": described === "" ? undefined : described,
        "aria-invalid": error === undefined ? undefined : true,
      })}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}
