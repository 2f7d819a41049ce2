/** What a line calls by a name, in whatever a program or a person writes that: code, settings, YAML, a shell. */
import { unescaped } from '../../words/in-arguments.js'
import { shellCommands } from '../../words/shell-words.js'
import { entryName, memberName, type Named } from './told.js'

const name = '(?<name>[A-Za-z_][\\w.-]{0,100})'
/** YAML may have a tag in front of a value. */
const sign = '[ \\t]{0,8}(?:=>|:=|[:=])[ \\t]{0,8}(?:![\\w/.-]{0,60}[ \\t]{1,8})?'
/** A group looked at ahead is not given back sign by sign: a long line takes linear time. */
const bare = '(?=(?<bare>[^\\s"\',;(){}[\\]]{1,4096}))\\k<bare>(?=["\']?[ \\t]{0,8}(?:[,;}#]|$))'
/** `"name": "value"`, `NAME='value'` and `name: value`, also several in a line. */
const assignment = new RegExp(
  `(?<![\\w.$-])["']?${name}["']?${sign}(?:"(?<double>(?:[^"\\\\]|\\\\.)+)"|'(?<single>[^']+)'|${bare})`,
  'gsu',
)
/** `name = several words`, to the end of the line. */
const ofLine = new RegExp(
  `^[-\\s]*(?:(?:export|set|const|let|var)[ \\t]+)?${name}${sign}(?<rest>[^\\s"'].*?)[,;]?$`,
  'u',
)
/** `names: [x, "y"]` and `names: { one: x }`. */
const several = new RegExp(
  `(?<![\\w.$-])["']?${name}["']?${sign}(?:\\[(?<list>[^[\\]{}]+)\\]|\\{(?<map>[^[\\]{}]+)\\})`,
  'gu',
)
const entry = /"(?<double>(?:[^"\\]|\\.)+)"|'(?<single>[^']+)'|(?<bare>[^\s"',](?:[^,]*[^\s,])?)/gu

type Groups = Readonly<Record<string, string | undefined>>
/** What stands in quotes as JSON reads it, and as a shell does. */
const readings = ({ double, single, bare: plain, rest }: Groups): string[] =>
  double === undefined
    ? [single ?? plain ?? rest ?? '']
    : [...new Set([unescaped(`"${double}"`), double.replaceAll(/\\([$`"\\])/gu, '$1')])]
const namedBy = (groups: Groups = {}, called = groups['name'] ?? ''): Named[] =>
  readings(groups).map((value) => ({ called, value }))

const assigned = (text: string): Named[] => [...text.matchAll(assignment)].flatMap(({ groups }) => namedBy(groups))

const inSeveral = (line: string): Named[] =>
  [...line.matchAll(several)].flatMap(({ groups: { name: called = '', list = '', map = '' } = {} }) => [
    ...[...list.matchAll(entry)].flatMap(({ groups }) => namedBy(groups, entryName(called))),
    ...assigned(map).map((one) => ({ called: memberName(one.called, called), value: one.value })),
  ])

const variable = /^(?<name>[A-Za-z_]\w{0,100})=(?<value>.+)$/su
/** Variables as a shell reads them, where the line is no more than one command. */
const inShell = (line: string): Named[] => {
  if (!/(?:^|[\s"'-])[A-Za-z_]\w{0,100}=\S/u.test(line)) return []
  const commands = shellCommands(line.replace(/^[-\s]+/u, ''))
  return commands.length === 1 ? (commands[0] ?? []).flatMap((word) => pairOf(variable.exec(word)?.groups)) : []
}
const pairOf = ({ name: called, value }: Groups = {}): Named[] =>
  called === undefined || value === undefined ? [] : [{ called, value }]

export const pairsIn = (line: string): readonly Named[] =>
  /[:=]/u.test(line)
    ? [
        ...assigned(line),
        ...namedBy(ofLine.exec(line)?.groups ?? undefined).filter(({ called }) => called !== ''),
        ...inSeveral(line),
        ...inShell(line),
      ]
    : []

const quoted = new RegExp(
  `^[ \\t]*(?:-[ \\t]+)?(?:export[ \\t]+)?["']?${name}["']?${sign}(?:"(?<double>(?:[^"\\\\]|\\\\.)+)"|'(?<single>[^']+)')`,
  'gmsu',
)
/** Those whose quotes end in another line. */
export const pairsOfLines = (text: string): readonly Named[] =>
  [...text.matchAll(quoted)].flatMap(({ groups }) => namedBy(groups)).filter(({ value }) => /[\r\n]/u.test(value))
