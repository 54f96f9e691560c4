import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";
import { ANSWER, costOf, keyOf } from "./answer.ts";

/**
 * What the platform itself costs: a Hono route that reads a body and answers (`hono`), with the headers that each limited
 * answer must have (`headers`), the same with a call of an object
 * (`object`), and with a call that writes one row (`row`). The variable SIDE says which, so that each is a Worker with
 * one route.
 */

interface Bindings {
  readonly SIDE: "hono" | "headers" | "object" | "row";
  readonly OBJECTS: DurableObjectNamespace<Bare>;
}

export class Bare extends DurableObject<Bindings> {
  #prepared = false;

  ask(cost: number): typeof ANSWER & { cost: number } {
    return { ...ANSWER, cost };
  }

  write(body: string): typeof ANSWER & { seq: number } {
    const { sql } = this.ctx.storage;
    if (!this.#prepared) {
      sql.exec("CREATE TABLE IF NOT EXISTS written (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT");
      this.#prepared = true;
    }
    const { seq } = sql.exec<{ seq: number }>("INSERT INTO written (body) VALUES (?) RETURNING seq", body).one();
    return { ...ANSWER, seq };
  }
}

/** What our answers carry: written here as they would be for nobody. */
const HEADERS = {
  "RateLimit-Policy": '"requests";q=1000000;w=1',
  RateLimit: '"requests";r=999999;t=1',
  "X-RateLimit-Limit": "1000000",
  "X-RateLimit-Remaining": "999999",
  "X-RateLimit-Reset": "1790000000",
  "Cache-Control": "no-store",
};

const app = new Hono<{ Bindings: Bindings }>();

app.post("/v1/check", async (c) => {
  const objectOf = () => c.env.OBJECTS.get(c.env.OBJECTS.idFromName(keyOf(c.req.header("Authorization"))));
  switch (c.env.SIDE) {
    case "hono":
      await costOf(c.req);
      return c.json(ANSWER);
    case "headers":
      await costOf(c.req);
      return c.json(ANSWER, 200, { ...HEADERS, "X-Request-Id": crypto.randomUUID() });
    case "object": {
      const { cost: _cost, ...answer } = await objectOf().ask(await costOf(c.req));
      return c.json(answer);
    }
    case "row": {
      const { seq: _seq, ...answer } = await objectOf().write(await c.req.text());
      return c.json(answer);
    }
  }
});

export default app;
