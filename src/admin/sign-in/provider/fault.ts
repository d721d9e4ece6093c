type FaultKind =
  /** The provider cannot be reached. */
  | "unreachable"
  /** The issuer's address is not that of a provider. */
  | "description"
  /** The provider refused the person, or they turned back. */
  | "refused"
  /** The provider refused this installation. */
  | "client"
  /** The provider's answer is wrong, forged or too late. */
  | "answer";

/** Signing in through a provider failed. `detail` is for the administrator, and has no secrets and no tokens. */
export class ProviderFault extends Error {
  override readonly name = "ProviderFault";
  readonly kind: FaultKind;

  constructor(kind: FaultKind, detail: string) {
    super(detail);
    this.kind = kind;
  }
}
