import type { Facts, PluginFacts } from '../gather.js'
import { code, codes, page, table } from '../markdown.js'
import { sentenceBefore, typeOf, type Found } from '../modules.js'

const tokens = (map: Readonly<Record<string, { readonly token: string }>> | undefined): string =>
  codes(Object.values(map ?? {}).map(({ token }) => token))

const contributed = ({ declared: { contributions } }: PluginFacts): string[][] => {
  const points = [...new Set(contributions.map(({ point }) => point))]
  return points.map((point) => [
    `to ${code(point)}`,
    codes(contributions.filter((each) => each.point === point).map(({ name }) => name)),
  ])
}

const sectionOf = (facts: PluginFacts): string[] => {
  const {
    plugin: { id, version, summary, needs, wants, provides = [] },
    commands,
    required,
    declared,
  } = facts
  const rows: [string, string][] = [
    ['version', version],
    ['without it', required ? 'the daemon does not start' : 'the daemon works on'],
    ['needs', tokens(needs)],
    ['wants', tokens(wants)],
    ['provides', codes(provides.map(({ token }) => token))],
    ['routes', codes(declared.routes)],
    ['commands', codes(commands.map(({ path }) => path.join(' ')))],
    ['stores', codes([...declared.collections, ...declared.streams].map(({ name }) => name))],
    ['repairs', codes(declared.repairs)],
    ['health checks', codes(declared.checks)],
  ]
  return [
    `### ${id}`,
    summary,
    [...rows.filter(([, text]) => text !== ''), ...contributed(facts)]
      .map(([name, text]) => `- ${name}: ${text}`)
      .join('\n'),
  ]
}

/** The sentence of a name, or of the type that it stands for. */
const sentenceOf = (found: Found<unknown>): string =>
  sentenceBefore(found, 'const') || sentenceBefore({ file: found.file, symbol: typeOf(found) }, '(?:interface|type)')

const named = (found: Found<unknown>, id: string): string[] => [
  code(id),
  `${code(found.symbol)} in ${code(found.file)}`,
  code(typeOf(found)),
  found.from === undefined ? '' : code(found.from),
  sentenceOf(found),
]

export const pluginsPage = ({ plugins, modules }: Facts): string =>
  page(
    '# Plugins',
    'The shipped plugins in the order of the list in `plugins/index.ts`; what they need decides the order in ' +
      'which they start.',
    table(
      ['plugin', 'what it is', 'without it'],
      plugins.map(({ plugin: { id, summary }, required }) => [
        `[${id}](#${id})`,
        summary,
        required ? 'no start' : 'works on',
      ]),
    ),
    '## Points',
    'Lists that any plugin may add to with `ctx.contribute`. A plugin that operators add names one by its id, ' +
      "`{ point: 'tools@1' }`, and imports the type of what it takes with `import type` from where the table says.",
    table(
      ['point', 'exported as', 'takes', 'types from', 'for', 'filled by'],
      modules.points
        .toSorted((a, b) => (a.value.point < b.value.point ? -1 : 1))
        .map((found) => [
          ...named(found, found.value.point),
          plugins
            .filter(({ declared }) => declared.contributions.some(({ point }) => point === found.value.point))
            .map(({ plugin }) => plugin.id)
            .join(', '),
        ]),
    ),
    '## Services',
    "Named by tokens; a plugin names those that it needs: one that operators add by the id, `{ token: 'agents@1' }`, " +
      'with the type of what it gives from where the table says.',
    table(
      ['token', 'exported as', 'gives', 'types from', 'for', 'needed by'],
      modules.tokens
        .toSorted((a, b) => (a.value.token < b.value.token ? -1 : 1))
        .map((found) => [
          ...named(found, found.value.token),
          plugins
            .filter(({ plugin: { needs = {}, wants = {} } }) =>
              [...Object.values<{ token: string }>(needs), ...Object.values<{ token: string }>(wants)].some(
                ({ token }) => token === found.value.token,
              ),
            )
            .map(({ plugin }) => plugin.id)
            .join(', '),
        ]),
    ),
    '## Each plugin',
    ...plugins.map(sectionOf),
  )
