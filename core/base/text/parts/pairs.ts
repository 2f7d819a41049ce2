/** What a line calls by a name, in whatever a program or a person writes that: code, settings, YAML, a shell. */
import { unescaped } from '../../words/in-code.js'
import { readShell } from '../../words/shell-words.js'
import { entryName, memberName, type Named } from './told.js'

const name = '(?<name>\\.?[A-Za-z_][\\w.-]{0,100})'
/** YAML may have a tag and an anchor behind it. */
const sign = '[ \\t]{0,8}(?:=>|:=|[:=])[ \\t]{0,8}(?:[!&][\\w!/.:-]{0,60}[ \\t]{1,8}){0,2}'
const key = `["']?${name}["']?${sign}`
/** A group looked at ahead is not given back sign by sign: a long line takes linear time. */
const bare = '(?=(?<bare>[^\\s"\',;(){}[\\]]{1,4096}))\\k<bare>(?=["\']?[ \\t]{0,8}(?:[,;}#]|$))'
/** `"name": "value"`, `NAME='value'` and `name: value`, also several in a line. */
const assignment = new RegExp(
  `(?<![\\w.$-])${key}(?:"(?<double>(?:[^"\\\\]|\\\\.)+)"|'(?<single>[^']+)'|${bare})`,
  'gsu',
)
/** `name = several words`, to the end of the line. */
const ofLine = new RegExp(
  `^[-\\s]*(?:(?:export|set|const|let|var)[ \\t]+)?${name}${sign}(?<rest>[^\\s"'].*?)[,;]?$`,
  'gu',
)
/** `set -gx NAME x` and `setenv NAME x`, as fish and csh have them. */
const ofSet = new RegExp(
  '^\\s*(?:set(?:[ \\t]{1,8}-{1,2}[A-Za-z-]{1,20}){1,8}|setenv)[ \\t]{1,8}(?<name>[A-Za-z_]\\w{0,100})[ \\t]{1,8}' +
    `(?:"(?<double>(?:[^"\\\\]|\\\\.)+)"|'(?<single>[^']+)'|(?<rest>[^\\s"'].*?))[ \\t]*;?$`,
  'gsu',
)
/** `names: [x, "y"]` and `names: { one: x }`. */
const several = new RegExp(`(?<![\\w.$-])${key}(?:\\[(?<list>[^[\\]{}]+)\\]|\\{(?<map>[^[\\]{}]+)\\})`, 'gu')
const entry = /"(?<double>(?:[^"\\]|\\.)+)"|'(?<single>[^']+)'|(?<bare>[^\s"',](?:[^,]*[^\s,])?)/gu

type Groups = Readonly<Record<string, string | undefined>>
/** What stands in quotes as JSON reads it, and as a shell does. */
const readings = ({ double, single, bare: plain, rest }: Groups): string[] =>
  double === undefined
    ? [single ?? plain ?? rest ?? '']
    : [...new Set([unescaped(`"${double}"`), double.replaceAll(/\\([$`"\\])/gu, '$1')])]
const namedBy = (groups: Groups = {}, called = groups['name'] ?? ''): Named[] =>
  readings(groups).map((value) => ({ called, value }))
const allIn = (text: string, pattern: RegExp): Named[] =>
  [...text.matchAll(pattern)].flatMap(({ groups }) => namedBy(groups))

const inSeveral = (line: string): Named[] =>
  [...line.matchAll(several)].flatMap(({ groups: { name: called = '', list = '', map = '' } = {} }) => [
    ...[...list.matchAll(entry)].flatMap(({ groups }) => namedBy(groups, entryName(called))),
    ...allIn(map, assignment).map((one) => ({ called: memberName(one.called, called), value: one.value })),
  ])

const variable = /^(?<name>[A-Za-z_]\w{0,100})=(?<rest>.+)$/gsu
/** Variables as a shell reads them, where the line is no more than one command. */
const inShell = (line: string): Named[] => {
  if (!/(?:^|[\s"'-])[A-Za-z_]\w{0,100}=\S/u.test(line)) return []
  const { commands } = readShell(line.replace(/^[-\s]+/u, ''))
  return commands.length === 1 ? (commands[0] ?? []).flatMap((word) => allIn(word, variable)) : []
}

export const pairsIn = (line: string): readonly Named[] => [
  ...allIn(line, ofSet),
  ...(/[:=]/u.test(line)
    ? [...allIn(line, assignment), ...allIn(line, ofLine), ...inSeveral(line), ...inShell(line)]
    : []),
]

const quoted = new RegExp(
  `^[ \\t]*(?:-[ \\t]+)?(?:export[ \\t]+)?${key}(?:"(?<double>(?:[^"\\\\]|\\\\.)+)"|'(?<single>[^']+)')`,
  'gmsu',
)
/** Those whose quotes end in another line. */
export const pairsOfLines = (text: string): readonly Named[] =>
  allIn(text, quoted).filter(({ value }) => /[\r\n]/u.test(value))
