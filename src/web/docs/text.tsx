/** Words of the document: paragraphs, with what stands between backticks as code. */

export function Text({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(/\n{2,}/).map((paragraph, n) => (
        <p key={n}>
          <Inline text={paragraph} />
        </p>
      ))}
    </>
  );
}

export function Inline({ text }: { readonly text: string }) {
  // Every second part stood between backticks.
  return <>{text.split("`").map((part, n) => (n % 2 === 1 ? <code key={n}>{part}</code> : part))}</>;
}
