import { useId } from "preact/hooks";
import type { Field, FieldTexts } from "./field.tsx";
import { FieldFrame } from "./field.tsx";

export interface Option {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** One of several values. */
export function SelectField(
  props: FieldTexts & {
    readonly of: Field<string>;
    readonly options: readonly Option[];
    /** The choice of no value, such as "Default". */
    readonly none?: string;
    readonly required?: boolean;
  },
) {
  const { of: field, label, hint, optional, options, none, required } = props;
  return (
    <FieldFrame of={field} label={label} hint={hint} {...(optional !== undefined && { optional })}>
      {(attributes) => (
        <select
          {...attributes}
          required={required}
          value={field.value}
          onChange={({ currentTarget }) => field.set(currentTarget.value)}
        >
          {none !== undefined && <option value="">{none}</option>}
          {options.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}

/** Something that is on or off. */
export function SwitchField({ of: field, label, hint }: FieldTexts & { readonly of: Field<boolean> }) {
  const id = useId();
  const error = field.errors[field.name];
  return (
    <div class="field switch-field" data-field={field.name}>
      <input
        type="checkbox"
        role="switch"
        class="switch"
        id={id}
        name={field.name}
        checked={field.value}
        aria-describedby={hint === undefined && error === undefined ? undefined : `${id}-text`}
        aria-invalid={error === undefined ? undefined : true}
        onChange={({ currentTarget }) => field.set(currentTarget.checked)}
      />
      <div>
        <label for={id}>{label}</label>
        <div id={`${id}-text`}>
          {hint !== undefined && <p class="hint">{hint}</p>}
          {error !== undefined && <p class="field-error">{error}</p>}
        </div>
      </div>
    </div>
  );
}

/** Any of several values. */
export function CheckListField(
  props: FieldTexts & { readonly of: Field<readonly string[]>; readonly options: readonly Option[] },
) {
  const { of: field, label, hint, optional, options } = props;
  const id = useId();
  const toggle = (value: string, isOn: boolean): void =>
    field.set(
      options.map((option) => option.value).filter((each) => (each === value ? isOn : field.value.includes(each))),
    );
  return (
    <FieldFrame of={field} label={label} hint={hint} {...(optional !== undefined && { optional })} isGroup>
      {() => (
        <ul class="check-list">
          {options.map(({ value, label: text, hint: about }) => (
            <li key={value}>
              <input
                type="checkbox"
                id={`${id}-${value}`}
                name={field.name}
                checked={field.value.includes(value)}
                aria-describedby={about === undefined ? undefined : `${id}-${value}-hint`}
                onChange={({ currentTarget }) => toggle(value, currentTarget.checked)}
              />
              <div>
                <label for={`${id}-${value}`}>{text}</label>
                {about !== undefined && (
                  <p class="hint" id={`${id}-${value}-hint`}>
                    {about}
                  </p>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
    </FieldFrame>
  );
}
