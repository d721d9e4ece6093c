import { useId, useMemo, useState } from "preact/hooks";
import { SelectField } from "#web/dashboard/ui/fields/choice.tsx";
import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { memberOf } from "#web/dashboard/ui/fields/field.tsx";
import { SecretField } from "#web/dashboard/ui/fields/secret.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { NumberField, TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { JsonObject, JsonSchema, SchemaField } from "./schema.ts";
import { fieldsOf, isObject, labelOf, pairsOf, pairsText } from "./schema.ts";

/**
 * Fields for an object that a JSON schema describes, inside a `Form`. Send `withoutEmpty(value)`. `secrets`: paths of
 * members that are written only; `secretsSet`: those that the server has.
 */
export function SchemaFields(props: {
  readonly schema: JsonSchema;
  readonly of: Field<JsonObject>;
  readonly secrets?: readonly string[];
  readonly secretsSet?: readonly string[];
}) {
  const { schema, of: field, secrets = [], secretsSet = [] } = props;
  const fields = useMemo(() => fieldsOf(schema, secrets), [schema, secrets.join(" ")]);
  return <FieldList fields={fields} of={field} secretsSet={secretsSet} prefix="" />;
}

interface ListProps {
  readonly fields: readonly SchemaField[];
  readonly of: Field<JsonObject>;
  readonly secretsSet: readonly string[];
  readonly prefix: string;
}

const FieldList = ({ fields, of: field, secretsSet, prefix }: ListProps) => (
  <>
    {fields.map((shown) => (
      <OneField
        key={shown.key}
        shown={shown}
        of={memberOf(field, shown.key)}
        secretsSet={secretsSet}
        path={prefix + shown.key}
      />
    ))}
  </>
);

interface OneProps {
  readonly shown: SchemaField;
  readonly of: Field<unknown>;
  readonly secretsSet: readonly string[];
  readonly path: string;
}

function OneField({ shown, of: field, secretsSet, path }: OneProps) {
  const { kind, label, hint, isRequired, schema } = shown;
  const texts = { label, hint, optional: !isRequired };
  const placeholder = schema.default === undefined ? {} : { placeholder: textOf(schema.default) };
  const required = isRequired && schema.default === undefined;
  switch (kind) {
    case "group":
      return <Group {...shown} of={asObject(field)} secretsSet={secretsSet} path={path} />;
    case "choice":
      return <ChoiceField shown={shown} of={field} />;
    case "secret":
      return (
        <SecretField {...texts} of={asOptionalText(field)} isSet={secretsSet.includes(path)} required={isRequired} />
      );
    case "yes-no": {
      const choices = [true, false];
      return <ChoiceField shown={{ ...shown, kind: "choice", choices, own: undefined }} of={field} />;
    }
    case "number":
    case "integer": {
      const limits = {
        ...(schema.minimum !== undefined && { min: schema.minimum }),
        ...(schema.maximum !== undefined && { max: schema.maximum }),
      };
      const step = kind === "integer" ? {} : { step: 0.01 };
      return <NumberField {...texts} {...placeholder} {...limits} {...step} of={asNumber(field)} required={required} />;
    }
    case "list":
      return <TagsField {...texts} of={asTexts(field)} />;
    case "pairs":
      return <PairsField {...texts} of={field} />;
    case "text":
    case "long-text": {
      const Control = kind === "text" ? TextField : TextAreaField;
      const { maxLength } = schema;
      const limit = maxLength === undefined ? {} : { maxLength };
      return <Control {...texts} {...placeholder} {...limit} of={asText(field)} required={required} />;
    }
  }
}

function Group(
  props: Extract<SchemaField, { kind: "group" }> & Omit<OneProps, "shown" | "of"> & { readonly of: Field<JsonObject> },
) {
  const { label, hint, fields, of: field, secretsSet, path } = props;
  const id = useId();
  return (
    <div class="field-group" role="group" aria-labelledby={id} data-field={field.name}>
      <span class="group-label" id={id}>
        {label}
      </span>
      {hint !== undefined && <p class="hint">{hint}</p>}
      <FieldList fields={fields} of={field} secretsSet={secretsSet} prefix={`${path}.`} />
    </div>
  );
}

const ownValue = "own";

/** One of the schema's values, or (`own`) another one, which a second field takes. */
function ChoiceField(props: { readonly shown: Extract<SchemaField, { kind: "choice" }>; readonly of: Field<unknown> }) {
  const { shown, of: field } = props;
  const { choices, own, label, hint, isRequired, schema } = shown;
  const at = choices.indexOf(field.value);
  const [isOwn, setOwn] = useState(field.value !== undefined && at === -1);
  const options = choices.map((choice, index) => ({ value: String(index), label: choiceLabel(choice) }));
  const chosen: Field<string> = {
    ...field,
    value: isOwn ? ownValue : at === -1 ? "" : String(at),
    set(value) {
      setOwn(value === ownValue);
      field.set(value === "" || value === ownValue ? undefined : choices[Number(value)]);
    },
  };
  const none = schema.default === undefined ? "Default" : `Default: ${choiceLabel(schema.default)}`;
  return (
    <>
      <SelectField
        of={chosen}
        label={label}
        hint={hint}
        optional={!isRequired}
        required={isRequired}
        none={isRequired ? "Choose…" : none}
        options={own === undefined ? options : [...options, { value: ownValue, label: "Another value" }]}
      />
      {isOwn && own !== undefined && <OwnValue label={label} schema={own} of={field} />}
    </>
  );
}

function OwnValue(props: { readonly label: string; readonly schema: JsonSchema; readonly of: Field<unknown> }) {
  const { label, schema, of: field } = props;
  const text = `${label}: value`;
  return schema.type === "number" || schema.type === "integer" ? (
    <NumberField label={text} of={asNumber(field)} required />
  ) : (
    <TextField label={text} hint={schema.description} of={asText(field)} required />
  );
}

const choiceLabel = (choice: unknown): string => {
  if (typeof choice === "boolean") return choice ? "Yes" : "No";
  return typeof choice === "string" ? labelOf(choice) : textOf(choice);
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** An object of texts, one member a line. */
function PairsField(props: {
  readonly label: string;
  readonly hint: string | undefined;
  readonly optional: boolean;
  readonly of: Field<unknown>;
}) {
  const { of: field, hint, ...texts } = props;
  const [text, setText] = useState(() => pairsText(field.value));
  const lines: Field<string> = {
    ...field,
    value: text,
    set(next) {
      setText(next);
      field.set(pairsOf(next));
    },
  };
  return <TextAreaField {...texts} of={lines} hint={`${hint ?? ""} One name=value a line.`.trim()} mono rows={3} />;
}

const asText = (field: Field<unknown>): Field<string> => ({
  ...field,
  value: typeof field.value === "string" ? field.value : "",
});
const asOptionalText = (field: Field<unknown>): Field<string | undefined> => ({
  ...field,
  value: typeof field.value === "string" ? field.value : undefined,
});
const asNumber = (field: Field<unknown>): Field<number | null> => ({
  ...field,
  value: typeof field.value === "number" ? field.value : null,
});
const asTexts = (field: Field<unknown>): Field<readonly string[]> => ({
  ...field,
  value: Array.isArray(field.value) ? field.value.map(String) : [],
});
const asObject = (field: Field<unknown>): Field<JsonObject> => ({
  ...field,
  value: isObject(field.value) ? field.value : {},
});
