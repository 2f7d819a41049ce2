import { settingsOf, type Setting } from '../../../core/base/config.js'
import { inlineSchema, type AnyStruct } from '../../../core/base/schema.js'
import { daemonSettings, Settings } from '../../../core/base/settings.js'
import { KindConfig, RetentionConfig } from '../../../core/retention/policy.js'
import type { ListSpec } from '../../../core/plugin/list.js'
import type { Facts } from '../gather.js'
import { code, codes, fieldRows, page, table } from '../markdown.js'

const flagOf = (settings: readonly Setting[], field: string): readonly [string, string] => {
  const found = settings.find((setting) => code(setting.field) === field)
  return found === undefined ? ['', ''] : [code(`--${found.flag}`), code(found.variable)]
}

const rows = (struct: AnyStruct, settings: readonly Setting[]): string[][] =>
  fieldRows(inlineSchema(struct)).map(([field = '', type = '', need = '', fallback = '', sentence = '']) => [
    field,
    type,
    need,
    fallback,
    ...flagOf(settings, field),
    sentence,
  ])

const retentionRows = (struct: AnyStruct, before = ''): string[][] =>
  rows(struct, [])
    .filter(([field]) => field !== code('kinds'))
    .map(([field = '', type = '', need = '', fallback = '', , , sentence = '']) => [
      before === '' ? field : code(`${before}${field.replaceAll('`', '')}`),
      type,
      need,
      fallback,
      sentence,
    ])

/** Kinds that plugins declare: each with what leads it, and how long somebody was promised it. */
const kindRows = (plugins: Facts['plugins']): string[][] =>
  plugins.flatMap(({ plugin: { id }, declared: { collections } }) =>
    collections.flatMap(({ name, kept }) => {
      if (kept?.since === undefined) return []
      const all = plugins.flatMap(({ declared }) => [...declared.collections, ...declared.streams])
      const others = all.filter((one) => one.kept?.kind === kept.kind && one.name !== name)
      const promise = kept.promise === undefined ? '' : `${kept.promise / 86_400_000}d`
      return [[code(kept.kind), id, code(name), codes(others.map((one) => one.name)), promise]]
    }),
  )

const besideTable = (beside: AnyStruct): string =>
  table(
    ['field', 'type', '', 'meaning'],
    rows(beside, []).map(([field = '', type = '', need = '', , , , sentence = '']) => [field, type, need, sentence]),
  )

/** How the table of an entry begins. */
const tableOf = ({ table: name = '', arrays }: Pick<ListSpec, 'table' | 'arrays'>): string =>
  arrays === undefined ? `\`[${name}.<name>]\`` : arrays.of.map((array) => `\`[[${array}]]\``).join(', ')

/** Files that are applied while the daemon runs. */
const listParts = (plugins: Facts['plugins']): string[] => {
  const found = plugins.flatMap(({ plugin: { id }, declared: { lists } }) => lists.map((list) => ({ id, list })))
  if (found.length === 0) return []
  return [
    '## Lists',
    'Files that are read again when they are saved, entry by entry: of a wrong one the last good one holds, and the ' +
      'warning `config_entry_invalid` names it.',
    ...found.flatMap(({ id, list, list: { file, from, summary, entry, beside } }) => [
      `### ${file}`,
      `${summary} In \`config/${file}.toml\`${from === undefined ? '' : `, or the file that \`--${from.flag}\` names`}, ` +
        `each in a table ${tableOf(list)}; used by ${id}.`,
      table(
        ['field', 'type', '', 'default', 'meaning'],
        rows(entry, []).map(([field = '', type = '', need = '', fallback = '', , , sentence = '']) => [
          field,
          type,
          need,
          fallback,
          sentence,
        ]),
      ),
      ...(beside === undefined ? [] : [`Beside them in \`config/${file}.toml\`:`, besideTable(beside)]),
    ]),
  ]
}

export const configurationPage = ({ plugins }: Facts): string =>
  page(
    '# Configuration',
    'A value comes from its flag of `serve`, else from its variable in the environment, else from the file, ' +
      'else it is the default. Lists are separated by commas in flags and variables; the variable of one is in the plural. A field, flag or value that ' +
      'is not understood is refused with a sentence that names it; a plugin that is set up wrongly does not ' +
      'start. A file may have 8 MiB at most.',
    '## The daemon',
    'Flags and variables only.',
    table(
      ['flag', 'variable', 'type', 'default', 'meaning'],
      rows(Settings, daemonSettings).map(([, type = '', , fallback = '', flag = '', variable = '', sentence = '']) => [
        flag,
        variable,
        type,
        fallback,
        sentence,
      ]),
    ),
    '## Retention',
    'In `config/retention.toml` of the state root, and there alone. Ages are a whole number and `m`, `h`, `d` or ' +
      '`w`, sizes one and `B`, `KiB`, `MiB`, `GiB` or `TiB`, without a blank between. `<kind>` is one of the kinds ' +
      'below.',
    table(
      ['field', 'type', '', 'default', 'meaning'],
      [...retentionRows(RetentionConfig), ...retentionRows(KindConfig, 'kinds.<kind>.')],
    ),
    'The kinds of the plugins that are shipped; others declare their own, and `/v1/status` names all that are ' +
      'there. What leads a kind is what `max_count` counts. A kind with a promise is kept for that time where ' +
      '`max_age` does not say another, and takes no `max_count`.',
    table(['kind', 'plugin', 'led by', 'with', 'promise'], kindRows(plugins)),
    ...plugins.map(({ plugin, plugin: { id, config, fileIsList = false } }) => {
      const found = config === undefined ? [] : rows(config, settingsOf(plugin))
      return found.length === 0
        ? []
        : [
            `## ${id}`,
            fileIsList ? 'By flag or variable:' : `In \`config/${id}.toml\` of the state root:`,
            table(['field', 'type', '', 'default', 'flag', 'variable', 'meaning'], found),
          ]
    }),
    ...listParts(plugins),
    '## Third-party plugins',
    'In `config/plugins.toml` of the state root, one table for each, named by the id of the plugin:',
    table(
      ['field', 'meaning'],
      [
        [
          '`from`',
          '`"state:<folder>"` for a folder in `plugins/` of the state root, `"npm:<package>"` for a package ' +
            'installed with `npm install --prefix <state root>/plugins <package>`.',
        ],
        ['`required`', 'True: if it fails, the daemon does not start. Default `false`.'],
      ],
    ),
  )
