const questionNames = new Set([
  "question",
  "q",
  "frage",
  "pregunta",
  "faq",
  "title",
  "headline",
  "heading",
  "subject",
  "topic",
]);
/** "acceptedAnswer" of schema.org, where the question is the name of its object. */
const acceptedAnswer = "accepted answer";
/** In the order of preference: a description beside a body is a summary of it. */
const answerNames = [
  acceptedAnswer,
  "answer",
  "a",
  "antwort",
  "respuesta",
  "content",
  "body",
  "text",
  "description",
  "solution",
  "reply",
  "response",
];

/** Words that programs put beside a name: "body_html", "post_content", "answerText". */
const wrappers = /^(?:html|text|raw|plain|rich|md|markdown|rendered|value|field|post|article|faq|entry|item)$/;

/** "body" of "bodyHtml". A name of such words alone stays. */
function coreOf(name: string): string {
  const words = name
    .trim()
    .slice(0, 100)
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s_.-]+/);
  const core = words.filter((word) => !wrappers.test(word));
  return (core.length === 0 ? words : core).join(" ");
}

export interface QuestionFields {
  readonly question: number;
  readonly answer: number;
}

/** Finds the fields with a question and its answer, or a title and its text, in exported FAQs. */
export function questionFields(names: readonly string[]): QuestionFields | undefined {
  const plain = names.map(coreOf);
  const answerName = answerNames.find((name) => plain.includes(name));
  const question = plain.findIndex(
    (name) => questionNames.has(name) || (answerName === acceptedAnswer && name === "name"),
  );
  return question === -1 || answerName === undefined ? undefined : { question, answer: plain.indexOf(answerName) };
}
