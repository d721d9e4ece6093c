/** What people call a customer of whom this much is known. */
export function customerLabel(row: {
  readonly id: string;
  readonly customer_name: string | null;
  readonly customer_email: string | null;
  readonly customer_phone: string | null;
}): string {
  // People without a name are told apart by a few characters of the conversation's id.
  return row.customer_name ?? row.customer_email ?? row.customer_phone ?? `Visitor ${row.id.slice(-4).toUpperCase()}`;
}
