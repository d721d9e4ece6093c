import { stem, termsOf } from "#language/terms.ts";

/** Which terms mean the same, in one workspace. */
export interface Synonyms {
  /** All that mean the same as this term, itself among them; empty: nothing else does. */
  groupOf(term: string): readonly string[];
  /** How much a word of the same meaning as this one counts for it. */
  shareOf(term: string): number;
  /** Puts one term in the place of words that together have a synonym ("single sign-on"). */
  read(terms: readonly string[]): readonly string[];
  /** The stems that such a term stands for; of any other, itself. */
  stemsOf(term: string): readonly string[];
}

/** Words that customers and manuals use for the same thing. Each line is one meaning; a word stands in one line only. */
const meanings = `
  ship shipping shipment deliver delivery dispatch arrive arrival
  refund reimburse reimbursement moneyback
  pay payment paid
  price cost fee
  phone telephone smartphone cellphone
  email mail
  login signin logon
  delete remove erase
  cancel cancellation terminate
  repair fix
  buy purchase
  photo picture image pic
  document doc
  database db
  password pw pwd passcode
  configuration config
  application app
  invoice receipt
  discount coupon voucher promo
  broken defective faulty damaged
  install installation setup
  connect connection pair pairing
  subscription membership
  offline internet
  licence license
  colour color
  centre center
  catalogue catalog
  favourite favorite
  behaviour behavior
  organisation organization
  customise customize
  authorise authorize
  synchronise synchronize sync
  grey gray
  warranty guarantee
  holiday vacation
  bicycle bike
  television tv
`;

const builtin: readonly (readonly string[])[] = meanings.split("\n").map((line) => [
  ...new Set(
    line
      .trim()
      .split(/\s+/)
      .filter((word) => word !== "")
      .map((word) => stem(word)),
  ),
]);

/** Parts the stems that stand for one thing together; no stem has a space. */
const joint = " ";
/** Words that mean the same to most people, and words of which the workspace says so. */
const builtinShare = 0.8;
const declaredShare = 0.95;
const keptMax = 100;
const kept = new Map<string, Synonyms>();

/** The built-in synonyms and those that a workspace declares: lists of words or phrases, each list one meaning. */
export function synonymsOf(declared: readonly (readonly string[])[] = []): Synonyms {
  const key = JSON.stringify(declared);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = create(declared);
  if (kept.size >= keptMax) kept.clear();
  kept.set(key, made);
  return made;
}

function create(declared: readonly (readonly string[])[]): Synonyms {
  const groups = new Map<string, readonly string[]>();
  const phrases = new Map<string, (readonly string[])[]>();
  const declaredTerms = declared.map((list) => list.map((each) => termsOf(each).join(joint)));
  const own = new Set(declaredTerms.flat());
  const lists = [...builtin, ...declaredTerms];
  for (const list of lists) {
    const terms = list.filter((term) => term !== "");
    // A word that is in two lists makes one of them.
    const group = [...new Set([...terms, ...terms.flatMap((term) => groups.get(term) ?? [])])];
    if (group.length < 2) continue;
    for (const term of group) groups.set(term, group);
  }
  for (const term of groups.keys()) {
    const stems = term.split(joint);
    const [first = ""] = stems;
    if (stems.length > 1) phrases.set(first, [...(phrases.get(first) ?? []), stems]);
  }
  // Of two phrases that begin alike the longer is meant where it stands.
  for (const [first, starting] of phrases)
    phrases.set(
      first,
      starting.toSorted((left, right) => right.length - left.length),
    );

  return {
    groupOf: (term) => groups.get(term) ?? [],
    shareOf: (term) => (own.has(term) ? declaredShare : builtinShare),
    read(terms) {
      if (phrases.size === 0) return terms;
      const read: string[] = [];
      for (let at = 0; at < terms.length; at += 1) {
        const phrase = phrases
          .get(terms[at] ?? "")
          ?.find((stems) => stems.every((stemmed, offset) => terms[at + offset] === stemmed));
        read.push(phrase?.join(joint) ?? terms[at] ?? "");
        at += (phrase?.length ?? 1) - 1;
      }
      return read;
    },
    stemsOf: (term) => term.split(joint),
  };
}

/** One stem for all that mean the same to everybody. */
export function synonymOf(term: string): string {
  return synonymsOf().groupOf(term)[0] ?? term;
}
