/** What the Workers that are measured against us have in common: the request that they read and the answer that they give. */

/** As long as the answer of a check, and of its shape. */
export const ANSWER = {
  allowed: true,
  remaining: 999_999,
  resetSeconds: 1,
  policies: [
    { name: "requests", type: "token-bucket", limit: 1_000_000, windowSeconds: 1, remaining: 999_999, resetSeconds: 1 },
  ],
};

/** Whose request it is, as all of them tell it: by its key. */
export function keyOf(authorization: string | undefined): string {
  return authorization ?? "nobody";
}

/** @throws Error when the body is not what the load sends: a side that did not read it would be measured for less */
export async function costOf(request: { json(): Promise<{ cost?: number }> }): Promise<number> {
  const { cost } = await request.json();
  if (typeof cost !== "number") throw new Error("no cost");
  return cost;
}
