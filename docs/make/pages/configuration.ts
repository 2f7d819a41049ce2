import { settingsOf, type Setting } from '../../../core/base/config.js'
import { inlineSchema, type AnyStruct } from '../../../core/base/schema.js'
import { daemonSettings, Settings } from '../../../core/base/settings.js'
import { RetentionConfig } from '../../../core/retention/policy.js'
import type { Facts } from '../gather.js'
import { code, fieldRows, page, table } from '../markdown.js'

const flagOf = (settings: readonly Setting[], field: string): readonly [string, string] => {
  const found = settings.find((setting) => code(setting.field) === field)
  return found === undefined ? ['', ''] : [code(`--${found.flag}`), code(found.variable)]
}

const rows = (struct: AnyStruct, settings: readonly Setting[]): string[][] =>
  fieldRows(inlineSchema(struct)).map(([field = '', type = '', , fallback = '', sentence = '']) => [
    field,
    type,
    fallback,
    ...flagOf(settings, field),
    sentence,
  ])

export const configurationPage = ({ plugins }: Facts): string =>
  page(
    '# Configuration',
    'A value comes from its flag of `serve`, else from its variable in the environment, else from the file, ' +
      'else it is the default. Lists are separated by commas in flags and variables. A field, flag or value that ' +
      'is not understood is refused with a sentence that names it; a plugin that is set up wrongly does not ' +
      'start.',
    '## The daemon',
    'Flags and variables only.',
    table(
      ['flag', 'variable', 'type', 'default', 'meaning'],
      rows(Settings, daemonSettings).map(([, type = '', fallback = '', flag = '', variable = '', sentence = '']) => [
        flag,
        variable,
        type,
        fallback,
        sentence,
      ]),
    ),
    '## Retention',
    'In `config/retention.toml` of the state root, and there alone; `<kind>` is one of those that `/v1/status` names:',
    table(
      ['field', 'type', 'default', 'meaning'],
      rows(RetentionConfig, []).map(([field = '', type = '', fallback = '', , , sentence = '']) => [
        field,
        type,
        fallback,
        sentence,
      ]),
    ),
    ...plugins.map(({ plugin: { id, config, flags = {} } }) => {
      const found = config === undefined ? [] : rows(config, settingsOf(flags))
      return found.length === 0
        ? []
        : [
            `## ${id}`,
            `In \`config/${id}.toml\` of the state root:`,
            table(['field', 'type', 'default', 'flag', 'variable', 'meaning'], found),
          ]
    }),
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
