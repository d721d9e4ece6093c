import { Content, Link } from "#web/shared/ui/content.tsx";
import { parseMarkdown } from "#web/dashboard/pages/documents/documents.ts";
import { addressOf } from "#web/dashboard/router.ts";
import type { Tone } from "#web/dashboard/ui/marks.tsx";
import { Badge, Callout, ProgressBar } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { useResource } from "#web/dashboard/ui/resource.tsx";

/** The answer to a tried question, and how it came about. */
export interface Tried {
  readonly replies: readonly string[];
  readonly decision: {
    readonly kind: "rule" | "handover" | "small_talk" | "skill" | "answer" | "refusal";
    readonly text: string;
  };
  readonly confidence: keyof typeof confidences | null;
  readonly sources: readonly { readonly title: string; readonly url: string }[];
  readonly passages: readonly FoundPassage[];
  readonly skills: readonly { readonly name: string; readonly outcome: string }[];
  readonly rules: readonly {
    readonly name: string;
    readonly because: readonly string[];
    readonly would: readonly string[];
  }[];
  readonly latency_ms: number;
  readonly tokens_used: number;
}

interface FoundPassage {
  readonly id: string;
  readonly document_id: string;
  readonly title: string;
  readonly text: string;
  readonly score: number;
  readonly used: boolean;
}

const confidences = {
  high: { label: "High confidence", tone: "good" },
  medium: { label: "Medium confidence", tone: "neutral" },
  low: { label: "Low confidence", tone: "wait" },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly tone: Tone }>>;

const decisionTones: Readonly<Record<Tried["decision"]["kind"], Tone>> = {
  rule: "neutral",
  handover: "wait",
  small_talk: "neutral",
  skill: "neutral",
  answer: "good",
  refusal: "wait",
};

export function Result({ of: tried }: { readonly of: Tried }) {
  const { replies, decision, confidence, sources, passages, rules } = tried;
  return (
    <>
      <Section
        title="The customer reads"
        {...(confidence !== null && {
          actions: <Badge tone={confidences[confidence].tone}>{confidences[confidence].label}</Badge>,
        })}
      >
        {replies.length === 0 && <p class="soft">Nothing.</p>}
        {replies.map((text, index) => (
          <Reply key={`${index} ${text}`} text={text} />
        ))}
        {sources.length > 0 && <Sources of={sources} />}
      </Section>
      <Section title="What decided">
        <Callout tone={decisionTones[decision.kind]}>
          <p>{decision.text}</p>
        </Callout>
        {rules.length > 0 && (
          <ul class="rules">
            {rules.map(({ name, because, would }) => (
              <li key={name}>
                The rule <b dir="auto">{name}</b> fires, because {because.join(", and ")}: {would.join("; ")}.
              </li>
            ))}
          </ul>
        )}
        <p class="hint">{timesOf(tried)}</p>
      </Section>
      {passages.length > 0 && (
        <Section
          title="Passages found"
          lead="In the order of the search, which counts headings and meaning too. The bar shows how much of the question the words cover. The answer cites those that are marked."
        >
          <ol class="passages">
            {passages.map((passage) => (
              <Passage key={passage.id} of={passage} />
            ))}
          </ol>
        </Section>
      )}
    </>
  );
}

function timesOf({ latency_ms: ms, tokens_used: tokens }: Tried): string {
  const time = ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
  return tokens === 0 ? `It took ${time}.` : `It took ${time} and ${tokens} tokens of the language model.`;
}

function Reply({ text }: { readonly text: string }) {
  const { data } = useResource(() => parseMarkdown(text), [text]);
  return (
    <div class="reply">
      {data === undefined ? <p dir="auto">{text}</p> : <Content of={data} kind="prose" topHeading={3} />}
    </div>
  );
}

const Sources = ({ of: sources }: { readonly of: Tried["sources"] }) => (
  <div>
    <h3 class="sources-title">Sources</h3>
    <ol class="sources">
      {sources.map(({ title, url }, index) => (
        <li key={index} dir="auto">
          {url === "" ? title : <Link href={url}>{title}</Link>}
        </li>
      ))}
    </ol>
  </div>
);

const Passage = ({ of: { document_id: id, title, text, score, used } }: { readonly of: FoundPassage }) => (
  <li class="box passage">
    <div class="passage-head">
      <h3 dir="auto">
        <a href={addressOf("documents", id)}>{title}</a>
      </h3>
      {used && <Badge tone="good">Used</Badge>}
    </div>
    <ProgressBar label={`Score of ${title}`} share={score} />
    <p dir="auto">{text}</p>
  </li>
);
