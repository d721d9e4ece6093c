import type { ComponentChildren } from "preact";
import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { SelectField, SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { ColourField, NumberField, TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { FormState } from "#web/dashboard/ui/form.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { ManagedByFile } from "#web/dashboard/ui/marks.tsx";
import type { SettingsList } from "./settings-api.ts";
import { saveSettings } from "./settings-api.ts";
import type { SettingSpec, Shown } from "./specs.ts";

/** Values of a form by the keys of the settings, in the form of their fields. */
export type Values = Readonly<Record<string, unknown>>;

const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** The value of a setting in its field. */
function toField({ kind }: Shown, value: unknown): unknown {
  switch (kind) {
    case "limit":
      return value === false ? null : value;
    case "quota":
      return value === false ? "" : String(value);
    case "lines":
      return ((value ?? []) as readonly string[]).join("\n");
    case "text":
    case "area":
      return value ?? "";
    case "groups":
      return (value as readonly (readonly string[])[]).map((words) => words.join(", ")).join("\n");
    default:
      return value;
  }
}

/** The value of a field as a setting; null: its default. */
function fromField({ kind }: Shown, value: unknown): unknown {
  switch (kind) {
    case "limit":
      return value === null ? false : value;
    case "quota":
      return quotaOf(String(value).trim());
    case "lines": {
      const lines = linesOf(value as string);
      return lines.length === 0 ? null : lines;
    }
    case "groups":
      return linesOf(value as string).map((line) => line.split(",").map((word) => word.trim()));
    default:
      return value;
  }
}

function quotaOf(text: string): unknown {
  if (text === "") return false;
  return /^\d+$/u.test(text) ? Number(text) : text;
}

const initialOf = (list: SettingsList, specs: readonly SettingSpec[]): Values =>
  Object.fromEntries(specs.map(({ key, shown }) => [key, toField(shown, list.settings[key]?.value)]));

/** An untouched field keeps its value: an empty list, which turns a setting off, looks like none. */
const settingsOf = (list: SettingsList, values: Values, specs: readonly SettingSpec[]): Values =>
  Object.fromEntries(
    specs.map(({ key, shown }) => {
      const value = list.settings[key]?.value;
      return [key, values[key] === toField(shown, value) ? value : fromField(shown, values[key])];
    }),
  );

/** A form of settings. `more`: further values of the form, in the form of the configuration. */
export function SettingsForm(props: {
  readonly list: SettingsList;
  readonly specs: readonly SettingSpec[];
  readonly changed: (list: SettingsList) => void;
  readonly more?: readonly string[];
  readonly children?: (form: FormState<Values>) => ComponentChildren;
}) {
  const { list, specs, changed, more = [], children } = props;
  const form = useForm<Values>({
    ...initialOf(list, specs),
    ...Object.fromEntries(more.map((key) => [key, list.settings[key]?.value])),
  });
  const send = async (values: Values): Promise<void> =>
    changed(await saveSettings(list, { ...values, ...settingsOf(list, values, specs) }));
  return (
    <Form form={form} send={send} label="Save" done="Saved.">
      {specs.map((spec) => (
        <Managed key={spec.key} is={list.settings[spec.key]?.managed_by_file === true}>
          <SettingField spec={spec} form={form} list={list} />
        </Managed>
      ))}
      {children?.(form)}
    </Form>
  );
}

/** Fields that cannot be changed where the configuration file declares them. */
export const Managed = ({ is, children }: { readonly is: boolean; readonly children: ComponentChildren }) =>
  is ? (
    <fieldset class="managed-field" disabled>
      {children}
      <ManagedByFile />
    </fieldset>
  ) : (
    <>{children}</>
  );

/** The field of a setting. The caller knows the type of its value, which follows from its kind: see `toField`. */
export const fieldOf = <T,>(form: FormState<Values>, key: string): Field<T> => form.field(key) as unknown as Field<T>;

function SettingField(props: {
  readonly spec: SettingSpec;
  readonly form: FormState<Values>;
  readonly list: SettingsList;
}) {
  const { spec, form, list } = props;
  const { key, label, shown } = spec;
  const texts = { label, ...(spec.hint !== undefined && { hint: spec.hint }) };
  switch (shown.kind) {
    case "text":
    case "area": {
      const usual = list.settings[key]?.default;
      const placeholder = typeof usual === "string" ? usual : "";
      const { maxLength, mono = false } = shown;
      const rest = { ...texts, of: fieldOf<string>(form, key), placeholder, maxLength, mono };
      return shown.kind === "text" ? <TextField {...rest} /> : <TextAreaField {...rest} rows={2} />;
    }
    case "number":
    case "limit": {
      const { min, max, unit } = shown;
      const step = shown.kind === "limit" ? (shown.step ?? 1) : 1;
      const of = fieldOf<number | null>(form, key);
      return <NumberField {...texts} of={of} min={min} max={max} unit={unit} step={step} />;
    }
    case "switch":
      return <SwitchField {...texts} of={fieldOf<boolean>(form, key)} />;
    case "colour":
      return <ColourField {...texts} of={fieldOf<string>(form, key)} />;
    case "tags":
      return <TagsField {...texts} of={fieldOf<readonly string[]>(form, key)} />;
    case "quota":
      return <TextField {...texts} of={fieldOf<string>(form, key)} />;
    case "select":
      return <SelectField {...texts} of={fieldOf<string>(form, key)} options={shown.options} />;
    case "lines":
    case "groups":
      return <TextAreaField {...texts} of={fieldOf<string>(form, key)} rows={5} />;
  }
}
