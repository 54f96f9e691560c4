/** As much of `bpmn-moddle` as moddle.ts uses; the package exports no types of its reader. */

declare module "bpmn-moddle" {
  /** What the reader tells about and goes on. */
  export interface ReaderWarning {
    readonly message: string;
    /** For references: the element that refers, its property (with prefix), and the id that is not there. */
    readonly element?: unknown;
    readonly property?: string;
    readonly value?: unknown;
  }

  export interface ReaderContext {
    readonly warnings: ReaderWarning[];
    addWarning(warning: ReaderWarning): void;
  }

  /** Handles the root element: has its tree as soon as the parser has gone through the text. */
  export interface RootHandler {
    context?: ReaderContext;
    readonly element?: unknown;
    /** Called when the root element is closed. */
    handleEnd(): void;
  }

  export interface Reader {
    handler(typeName: string): RootHandler;
  }

  export class BpmnModdle {
    constructor(packages: Readonly<Record<string, unknown>>);
    /** `options` go to the reader, over its own members. */
    fromXML(
      xml: string,
      typeName: string,
      options: { readonly lax: boolean; handler(this: Reader, typeName: string): RootHandler },
    ): Promise<unknown>;
  }
}
