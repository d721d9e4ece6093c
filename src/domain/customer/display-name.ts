/** The name under which agents see a customer, from the fields that are known. */
export function customerLabel(row: {
  readonly id: string;
  readonly customer_name: string | null;
  readonly customer_email: string | null;
  readonly customer_phone: string | null;
}): string {
  // A few characters of the conversation's id distinguish customers without a name.
  return row.customer_name ?? row.customer_email ?? row.customer_phone ?? `Visitor ${row.id.slice(-4).toUpperCase()}`;
}
