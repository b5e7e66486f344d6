import { styleText } from 'node:util';

/** The styles the command line uses. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Styles a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/**
 * Colours for a stream that is a terminal which has them; NO_COLOR and FORCE_COLOR are heeded as
 * Node heeds them. For any other stream the text stays as it is.
 */
export function createPaint(stream: NodeJS.WriteStream): Paint {
  // Whether the stream takes colours is decided here: newer versions of styleText look at stdout.
  return stream.isTTY && stream.hasColors()
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_style, text) => text;
}
