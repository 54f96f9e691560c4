import { type ApiDocument, nameOf, type Schema, whole } from "./document.ts";
import { Inline } from "./text.tsx";

/** A schema as a list of members, those of members within. */

/** Deeper ones are folded. */
const OPEN_DEPTH = 1;
/** No schema of ours refers to itself; one that did would end here. */
const DEPTH_MAX = 8;

interface Placed {
  readonly document: ApiDocument;
  readonly schema: Schema;
  readonly depth?: number;
}

/** What is in a value of this schema. Nothing is drawn of a value that has no parts. */
export function Members({ document, schema: given, depth = 0 }: Placed) {
  if (depth > DEPTH_MAX) return null;
  const schema = whole(document, given);
  const choices = schema.oneOf ?? schema.anyOf?.filter(hasParts(document));
  const [only, second] = choices ?? [];
  if (only !== undefined && second === undefined) {
    return <Members document={document} schema={only} depth={depth} />;
  }
  if (choices !== undefined && choices.length > 0) {
    return (
      <ul class="d-choices">
        {choices.map((choice, n) => (
          <li key={n}>
            <Folded title={choiceTitle(document, choice, n)} isOpen={false}>
              <Members document={document} schema={choice} depth={depth + 1} />
            </Folded>
          </li>
        ))}
      </ul>
    );
  }
  if (schema.items !== undefined) return <Members document={document} schema={schema.items} depth={depth} />;
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0) return null;
  return (
    <ul class="d-members">
      {members.map(([name, member]) => (
        <Member
          key={name}
          name={name}
          document={document}
          schema={member}
          depth={depth}
          isRequired={schema.required?.includes(name) ?? false}
        />
      ))}
    </ul>
  );
}

function Member({
  document,
  name,
  schema: given,
  depth = 0,
  isRequired,
}: Placed & { name: string; isRequired: boolean }) {
  const schema = whole(document, given);
  const inner = hasParts(document)(schema) && <Members document={document} schema={schema} depth={depth + 1} />;
  return (
    <li>
      <div class="d-member">
        <code class="d-name">{name}</code> <span class="d-type">{typeText(document, given)}</span>
        {isRequired && <span class="d-required">required</span>}
      </div>
      {schema.description !== undefined && (
        <p class="d-words">
          <Inline text={schema.description} />
        </p>
      )}
      <Bounds schema={schema} />
      {inner && (
        <Folded title={`What is in ${name}`} isOpen={depth < OPEN_DEPTH}>
          {inner}
        </Folded>
      )}
    </li>
  );
}

function Folded(props: { title: string; isOpen: boolean; children: preact.ComponentChildren }) {
  return (
    <details class="d-fold" open={props.isOpen}>
      <summary>{props.title}</summary>
      {props.children}
    </details>
  );
}

/** Whether there is more to say of a value than its type. */
export function hasParts(document: ApiDocument) {
  return (given: Schema): boolean => {
    const schema = whole(document, given);
    const { properties = {}, items, oneOf, anyOf } = schema;
    if (Object.keys(properties).length > 0 || oneOf !== undefined) return true;
    return (items !== undefined && hasParts(document)(items)) || (anyOf?.some(hasParts(document)) ?? false);
  };
}

/** What a choice is known by: its name, or what one of its members must be. */
function choiceTitle(document: ApiDocument, choice: Schema, n: number): string {
  const { properties = {} } = whole(document, choice);
  const fixed = Object.entries(properties).find(([, { enum: values }]) => values !== undefined && values.length <= 2);
  if (fixed === undefined) return nameOf(choice) ?? `Either: ${n + 1}`;
  return `${fixed[0]}: ${(fixed[1].enum ?? []).join(" or ")}`;
}

/** The type in a few words. */
export function typeText(document: ApiDocument, given: Schema): string {
  const schema = whole(document, given);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.items !== undefined) return `list of ${typeText(document, schema.items)}`;
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return [...new Set(choices.map((choice) => typeText(document, choice)))].join(" or ");
  const types = [schema.type ?? []].flat();
  const format = schema.format === undefined ? "" : ` (${schema.format})`;
  return types.length === 0 ? "anything" : types.join(" or ") + format;
}

/** How large or long a value may be, and what it is when it is left out. */
export function Bounds({ schema }: { readonly schema: Schema }) {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems, pattern } = schema;
  const said = [
    minimum === undefined ? [] : `at least ${minimum}`,
    exclusiveMinimum === undefined ? [] : `more than ${exclusiveMinimum}`,
    maximum === undefined ? [] : `at most ${maximum}`,
    minLength === undefined ? [] : `at least ${minLength} characters`,
    maxLength === undefined ? [] : `at most ${maxLength} characters`,
    minItems === undefined ? [] : `at least ${minItems} of them`,
    maxItems === undefined ? [] : `at most ${maxItems} of them`,
  ].flat();
  // What is set on the whole body is said by its members.
  const fallback = schema.default === undefined || typeof schema.default === "object" ? null : schema.default;
  if (said.length === 0 && pattern === undefined && fallback === null) return null;
  return (
    <p class="d-words muted">
      {said.join(", ")}
      {pattern !== undefined && (
        <>
          {said.length > 0 && ", "}of the form <code>{pattern}</code>
        </>
      )}
      {fallback !== null && (
        <>
          {(said.length > 0 || pattern !== undefined) && "; "}without it <code>{JSON.stringify(fallback)}</code>
        </>
      )}
    </p>
  );
}
