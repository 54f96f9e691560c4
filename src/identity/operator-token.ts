import { z } from "zod";

/** What `ADMIN_TOKEN` and `VIEWER_TOKEN` may be: something that a header carries, and that is not soon guessed. */

/** In characters. Shorter tokens are guessed even at the pace that the anonymous tier leaves to one address. */
const TOKEN_LENGTH_MIN = 8;
/** In characters: headers of servers end at about 8 KB. */
export const TOKEN_LENGTH_MAX = 4096;

/** Empty, as by default: the role is off. */
export const operatorToken = z
  .union([
    z.literal(""),
    z
      .string()
      .regex(/^[\x21-\x7e]*$/, "must be printable ASCII without blanks, or unset")
      .min(TOKEN_LENGTH_MIN, `must have at least ${TOKEN_LENGTH_MIN} characters, or be unset`)
      .max(TOKEN_LENGTH_MAX, `must have at most ${TOKEN_LENGTH_MAX} characters`),
  ])
  .default("");
