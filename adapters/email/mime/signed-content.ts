import { fromBER, Constructed, OctetString, Sequence } from "asn1js";

/**
 * The mail within opaque S/MIME signed data (RFC 5652, section 5.1): ContentInfo > SignedData > encapContentInfo >
 * eContent. Null: the bytes hold none. The signature is not checked.
 */
export function signedContent(der: Buffer): Buffer | null {
  const { result: info } = fromBER(der);
  const signedData = firstIn(second(info));
  if (!(signedData instanceof Sequence)) return null;
  const encapsulated = signedData.valueBlock.value[2];
  const content = firstIn(second(encapsulated));
  return content instanceof OctetString ? Buffer.from(content.getValue()) : null;
}

const second = (value: unknown): unknown => (value instanceof Sequence ? value.valueBlock.value[1] : undefined);
/** The value within an explicit tag. */
const firstIn = (value: unknown): unknown => (value instanceof Constructed ? value.valueBlock.value[0] : undefined);
