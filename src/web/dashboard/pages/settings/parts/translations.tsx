import { useState } from "preact/hooks";
import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { SelectField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextAreaField } from "#web/dashboard/ui/fields/text.tsx";
import { textSpecs } from "#web/dashboard/pages/settings/specs.ts";
import type { BuiltInTexts } from "#web/dashboard/pages/settings/settings-api.ts";

export type Translations = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Names of sentences, such as "hours_open": as the setting of the sentence is called, where there is one. */
const labelOf = (key: string): string => {
  const spec = textSpecs.find((each) => each.key === `messages.${key}`);
  if (spec !== undefined) return spec.label;
  const words = key.replaceAll("_", " ");
  return words[0]?.toUpperCase() + words.slice(1);
};

const nameOf = (code: string): string => new Intl.DisplayNames(["en"], { type: "language" }).of(code) ?? code;

/** The bot's sentences in one language, with the built-in ones in empty fields. */
export function TranslationFields(props: {
  readonly of: Field<Translations>;
  readonly builtIn: BuiltInTexts["texts"];
}) {
  const { of: field, builtIn } = props;
  const languages = Object.keys(builtIn);
  const [language, setLanguage] = useState(Object.keys(field.value)[0] ?? languages[0] ?? "en");
  const own = field.value[language] ?? {};
  const set = (key: string, text: string): void => {
    const { [key]: _, ...rest } = own;
    const texts = text === "" ? rest : { ...rest, [key]: text };
    const { [language]: __, ...others } = field.value;
    field.set(Object.keys(texts).length === 0 ? others : { ...others, [language]: texts });
  };
  return (
    <>
      <SelectField
        of={{ name: "language", value: language, set: setLanguage, errors: {} }}
        label="Sentences in"
        hint="An empty field has the built-in sentence, which it shows in grey. {bot} is the bot's name."
        options={languages.map((code) => ({
          value: code,
          label: field.value[code] === undefined ? nameOf(code) : `${nameOf(code)} (changed)`,
        }))}
      />
      {Object.entries(builtIn[language] ?? {}).map(([key, standard]) => (
        <TextAreaField
          key={`${language}.${key}`}
          of={{
            name: `${field.name}.${language}.${key}`,
            value: own[key] ?? "",
            set: (text) => set(key, text),
            errors: field.errors,
          }}
          label={labelOf(key)}
          placeholder={standard}
          rows={2}
          maxLength={2_000}
        />
      ))}
    </>
  );
}
