/**
 * Fenced blocks of a Markdown text. The words after the language are attributes: `ts
 * file=docs/examples/dice/plugin.ts`.
 */
export interface Fence {
  readonly language: string
  readonly attributes: Readonly<Record<string, string>>
  readonly body: string
  /** Line of the opening fence, from 1. */
  readonly line: number
}

const opening = /^```(\S*)((?: +\S+=\S+)*) *$/u

/** Indented and nested fences are text. */
export const fencesOf = (markdown: string): readonly Fence[] => {
  const fences: Fence[] = []
  let inside: { language: string; attributes: Record<string, string>; line: number; body: string[] } | undefined
  for (const [at, line] of markdown.split('\n').entries()) {
    if (inside === undefined) {
      const [whole, language = '', words = ''] = opening.exec(line) ?? []
      if (whole !== undefined)
        inside = {
          language,
          attributes: Object.fromEntries(
            words
              .trim()
              .split(/ +/u)
              .filter((word) => word !== '')
              .map((word) => word.split('=') as [string, string]),
          ),
          line: at + 1,
          body: [],
        }
    } else if (line === '```') {
      const { body, ...rest } = inside
      fences.push({ ...rest, body: body.map((each) => `${each}\n`).join('') })
      inside = undefined
    } else inside.body.push(line)
  }
  return fences
}

/** The text with the body of each block that `fill` answers for replaced. */
export const fillFences = (markdown: string, fill: (fence: Fence) => string | undefined): string => {
  const lines = markdown.split('\n')
  for (const fence of fencesOf(markdown).toReversed()) {
    const body = fill(fence)
    if (body === undefined) continue
    const old = fence.body.split('\n').length - 1
    lines.splice(fence.line, old, ...body.replace(/\n$/u, '').split('\n'))
  }
  return lines.join('\n')
}
