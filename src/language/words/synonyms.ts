import { stem, termsOf } from "./terms.ts";

/** The synonyms of one workspace. */
export interface Synonyms {
  /** All synonyms of a term, itself included. Empty when it has none. */
  groupOf(term: string): readonly string[];
  /** How much a synonym of this term counts, 0 to 1. */
  shareOf(term: string): number;
  /** Joins the words of a phrase that has synonyms ("single sign-on") into one term. */
  read(terms: readonly string[]): readonly string[];
  /** The stems of a joined term. Any other term is returned as it is. */
  stemsOf(term: string): readonly string[];
}

/** Separates the stems of a joined term. A stem never contains a space. */
const joint = " ";

/**
 * Words that customers and manuals use for the same thing. One meaning per line; a word must not occur in two lines. An
 * underscore joins the words of a phrase.
 */
const meanings = `
  ship shipping shipment deliver delivery dispatch arrive arrival
  refund reimburse reimbursement moneyback money_back
  return send_back bring_back give_back
  pay payment paid
  price cost fee
  phone telephone smartphone cellphone
  email mail
  login signin logon
  delete remove erase uninstall rid
  cancel cancellation terminate stop quit
  repair fix
  buy purchase
  photo picture image pic
  document doc
  database db
  password pw pwd passcode
  configuration config
  application app
  invoice receipt bill
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
  rent rental hire
  steal stole stolen theft
  lose lost
  child children kid
  shop store
  staff employee
  salary wage
  tyre tire
  wifi wi_fi wlan wireless
  ebike e_bike
  collect pickup
  switch swap exchange
  start begin
  expire expiry
  modify edit
  contact reach
  maximum max limit
  mandatory compulsory obligatory
  late delay overdue
  renew renewal extend prolong
  dog puppy pup
  toilet restroom bathroom wc
  lift elevator
  rubbish trash garbage
  manual handbook
  screen display
  vehicle car
  complain complaint
  waterproof watertight water_resistant
  mfa 2fa two_factor two_step 2_step
  admin administrator
  notification alert
  luggage baggage suitcase
  clean wash
  sick illness ill
  vacancy career
  supplier vendor
  website webpage homepage
  link url hyperlink
  noise noisy
  disable deactivate
  spare replacement
  forgot forget forgotten
  reset recover recovery
`;

const builtin: readonly (readonly string[])[] = meanings.split("\n").map((line) => [
  ...new Set(
    line
      .trim()
      .split(/\s+/)
      .filter((word) => word !== "")
      .map((word) => (word.includes("_") ? termsOf(word.replaceAll("_", " ")).join(joint) : stem(word))),
  ),
]);

/** Shares of built-in synonyms and of those that the workspace declares. */
const builtinShare = 0.8;
const declaredShare = 0.95;
const cacheMax = 100;
const cache = new Map<string, Synonyms>();

/** The built-in synonyms with those of a workspace. Each declared list holds words or phrases of one meaning. Cached. */
export function synonymsOf(declared: readonly (readonly string[])[] = []): Synonyms {
  const key = JSON.stringify(declared);
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const made = create(declared);
  if (cache.size >= cacheMax) cache.clear();
  cache.set(key, made);
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
    // Lists that share a word are merged.
    const group = [...new Set([...terms, ...terms.flatMap((term) => groups.get(term) ?? [])])];
    if (group.length < 2) continue;
    for (const term of group) groups.set(term, group);
  }
  for (const term of groups.keys()) {
    const stems = term.split(joint);
    const [first = ""] = stems;
    if (stems.length > 1) phrases.set(first, [...(phrases.get(first) ?? []), stems]);
  }
  // The longest phrase wins among those with the same first word.
  for (const [first, starting] of phrases)
    phrases.set(
      first,
      starting.toSorted((left, right) => right.length - left.length),
    );

  return {
    groupOf: (term) => groups.get(term) ?? [],
    shareOf: (term) => (own.has(term) ? declaredShare : builtinShare),
    read(terms) {
      if (!terms.some((term) => phrases.has(term))) return terms;
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

/** One stem for all built-in synonyms of a term. */
export function synonymOf(term: string): string {
  return synonymsOf().groupOf(term)[0] ?? term;
}
