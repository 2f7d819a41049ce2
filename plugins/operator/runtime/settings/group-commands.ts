/** Commands of a setting that is a group of values. */
import { defineCommand, fieldSchemas, type AnyStruct, type Command } from '../../../../core/plugin.js'
import { flagOfField } from './field-flag.js'
import { Changed, changeFields, changeFlags, sendChange, showChanged, valueOf } from './setting-command.js'

const base = '/v1/runtime'

const flagOf = (field: string): string => field.replaceAll('_', '-')

/** Shows a group of values, and sets those of them that flags name. */
export const groupCommands = (form: {
  /** Behind `holdfast runtime` and `/v1/runtime/`. */
  readonly path: string
  /** The member of the body that has the values. */
  readonly member: string
  /** In words, such as `the limits of tool calls`. */
  readonly what: string
  /** Of its values, each with what it means. */
  readonly struct: AnyStruct
}): readonly Command[] => {
  const schemas = Object.entries(fieldSchemas(form.struct))
  const names = schemas.map(([name]) => name)
  const flags = schemas.map(([name, schema]) => [flagOf(name), flagOfField(schema)] as const)
  return [
    defineCommand({
      path: ['runtime', form.path, 'get'],
      route: `GET ${base}/${form.path}`,
      summary: `Shows ${form.what}.`,
      run: ({ client }) => client.get(`${base}/${form.path}`),
    }),
    defineCommand({
      path: ['runtime', form.path, 'set'],
      route: `POST ${base}/${form.path}`,
      summary: `Changes ${form.what}; what is not named stays as it is.`,
      flags: {
        ...Object.fromEntries(flags.map(([name, { flag }]) => [name, flag])),
        ...changeFlags,
      },
      choices: Object.fromEntries(
        flags.flatMap(([name, { choices }]) => (choices.length === 0 ? [] : [[name, choices]])),
      ),
      oneOf: names.map((name) => `--${flagOf(name)}`),
      fields: {
        ...changeFields,
        ...Object.fromEntries(names.map((name) => [`body.${form.member}.${name}`, `--${flagOf(name)}`])),
      },
      run: (input) =>
        sendChange(input, form.path, {
          [form.member]: Object.fromEntries(
            names.flatMap((name) => {
              const given = input.flags[flagOf(name)]
              return typeof given === 'string' ? [[name, valueOf(given)]] : []
            }),
          ),
        }),
      answer: Changed,
      show: showChanged,
    }),
  ]
}
