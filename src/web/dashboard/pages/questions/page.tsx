import { spokenLanguages } from "#language/locale.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { api } from "#web/dashboard/api.ts";
import { SelectField } from "#web/dashboard/ui/fields/choice.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { TextAreaField } from "#web/dashboard/ui/fields/text.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { useState } from "preact/hooks";
import type { Tried } from "./result.tsx";
import { Result } from "./result.tsx";

export const questions: DashboardPage = {
  path: "questions",
  label: "Try a question",
  about: "See how the bot answers, and why.",
  group: "Knowledge",
  icon: icons.question,
  roles: ["admin"],
  render: () => <TryQuestion />,
};

const languageNames = new Intl.DisplayNames(undefined, { type: "language" });
const languages = spokenLanguages.map((value) => ({ value, label: languageNames.of(value) ?? value }));
const strictnesses = [
  { value: "strict", label: "Strict: only when sure" },
  { value: "helpful", label: "Helpful: also when a passage may be right" },
];

interface Asked {
  readonly question: string;
  readonly audience: readonly string[];
  readonly language: string;
  readonly strictness: string;
}

const nothing: Asked = { question: "", audience: [], language: "", strictness: "" };

function TryQuestion() {
  const form = useForm(nothing);
  const [tried, setTried] = useState<Tried>();
  async function send({ question, audience, language, strictness }: Asked): Promise<void> {
    const body = {
      question,
      audience,
      ...(language !== "" && { language }),
      ...(strictness !== "" && { strictness }),
    };
    setTried(await api.post<Tried>("questions/try", body));
  }
  return (
    <>
      <PageHead
        title="Try a question"
        lead="The bot answers as it would for a new customer. Nothing is stored or counted, and no skill changes anything."
      />
      <Form form={form} send={send} label="Ask">
        <TextAreaField
          of={form.field("question")}
          label="Question"
          rows={2}
          required
          maxLength={4_000}
          placeholder="How long does delivery take?"
        />
        <details class="more-fields">
          <summary>As another customer</summary>
          <div>
            <TagsField
              of={form.field("audience")}
              label="Audience tags"
              hint="The customer gets answers from documents with these tags, too."
              optional
              maxLength={64}
            />
            <SelectField of={form.field("language")} label="Language" options={languages} none="As in the question" />
            <SelectField
              of={form.field("strictness")}
              label="Strictness"
              options={strictnesses}
              none="As in the settings"
            />
          </div>
        </details>
      </Form>
      <div aria-live="polite" class="tried" aria-busy={form.isBusy}>
        {tried !== undefined && <Result of={tried} />}
      </div>
    </>
  );
}
