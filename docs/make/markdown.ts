/** Markdown, and JSON Schemas in words. */
import type { JsonSchema } from '../../core/base/schema.js'

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
export const code = (text: string): string => (text === '' ? '' : `\`${text}\``)
export const codes = (texts: readonly string[]): string => texts.map(code).join(', ')

/** A table without the columns that are empty in every row; nothing if there are no rows. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  if (rows.length === 0) return ''
  const kept = head.map((_, at) => at).filter((at) => at === 0 || rows.some((row) => (row[at] ?? '') !== ''))
  const line = (cells: readonly string[]): string => `| ${kept.map((at) => cell(cells[at] ?? '')).join(' | ')} |`
  return [line(head), `|${kept.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** Paragraphs and tables, with one empty line between them. */
export const page = (...parts: readonly (string | readonly string[])[]): string =>
  `${parts
    .flat()
    .filter((part) => part !== '')
    .join('\n\n')}\n`

export const json = (value: unknown): string => ['```json', JSON.stringify(value, null, 2), '```'].join('\n')

export const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/gu, '')
    .replaceAll(' ', '-')

const range = (low: unknown, high: unknown): string => {
  if (low === undefined && high === undefined) return ''
  if (low === Number.MIN_SAFE_INTEGER) return range(undefined, high)
  if (high === undefined || high === Number.MAX_SAFE_INTEGER) return low === undefined ? '' : `, at least ${low}`
  return low === undefined ? `, at most ${high}` : `, ${low} to ${high}`
}

const list = (value: unknown): readonly JsonSchema[] => (Array.isArray(value) ? value : [])
const inner = (value: unknown): JsonSchema => (typeof value === 'object' && value !== null ? { ...value } : {})

const nameOf = ($ref: unknown): string => String($ref).replace('#/components/schemas/', '')

/** `string, 1 to 200 characters`; named schemas are links. */
export const typeText = (schema: JsonSchema): string => {
  const { type, enum: values, minimum, maximum, minLength, maxLength, minItems, maxItems, $ref } = schema
  if ($ref !== undefined) return `[${nameOf($ref)}](schemas.md#${anchor(nameOf($ref))})`
  if ('const' in schema) return code(JSON.stringify(schema['const']))
  if (Array.isArray(values)) return values.map((value) => code(JSON.stringify(value))).join(', ')
  const variants = variantsOf(schema)
  if (variants.length > 0) return variantsText(variants)
  if (type === 'array') return `list of ${typeText(inner(schema['items']))}${range(minItems, maxItems)}`
  if (type === 'object' && typeof schema['additionalProperties'] === 'object')
    return `object of ${typeText(inner(schema['additionalProperties']))} by name`
  if (type === 'string')
    return `string${(minLength ?? maxLength) ? `${range(minLength, maxLength)} characters` : ''}${schema['pattern'] === undefined ? '' : `, ${code(String(schema['pattern']))}`}`
  if (type === undefined) return 'any JSON'
  return `${String(type)}${range(minimum, maximum)}`
}

const variantsOf = (schema: JsonSchema): JsonSchema[] => [...list(schema['oneOf']), ...list(schema['anyOf'])]

/** Members that tell a variant from the others. */
const tags = ['type', 'kind'] as const
interface Tag {
  readonly member: (typeof tags)[number]
  readonly text: string
}
const tagOf = (variant: JsonSchema): Tag | undefined =>
  tags.flatMap((member) => {
    const value = inner(inner(variant['properties'])[member])['const']
    return value === undefined ? [] : [{ member, text: code(String(value)) }]
  })[0]

const variantsText = (variants: readonly JsonSchema[]): string => {
  const told = variants.flatMap((variant) => tagOf(variant) ?? [])
  const others = variants.filter((variant) => tagOf(variant) === undefined).map(typeText)
  const [first] = told
  const tagged = first === undefined ? [] : [`object by ${first.member}: ${told.map(({ text }) => text).join(', ')}`]
  return [...tagged, ...new Set(others)].join(' or ')
}

/** The defaults of an object are those of its fields. */
const defaultText = (schema: JsonSchema): string =>
  'default' in schema && !('properties' in schema) ? code(JSON.stringify(schema['default'])) : ''

/** Rows of name, type, need, default and sentence, with the fields of inner objects under their dotted path. */
export const fieldRows = (schema: JsonSchema, before = ''): string[][] => {
  const required = new Set(list(schema['required']).map(String))
  return Object.entries(inner(schema['properties'])).flatMap(([name, value]) => {
    const field = inner(value)
    const path = `${before}${name}`
    const row = [
      code(path),
      typeText(field),
      required.has(name) ? 'required' : '',
      defaultText(field),
      String(field['description'] ?? ''),
    ]
    return [row, ...within(field, path)]
  })
}

/** Fields of a variant, without the one that names it. */
const variantRows = (variant: JsonSchema, path: string): string[][] => {
  const tag = tagOf(variant)
  const rows = 'properties' in variant ? fieldRows(variant, `${path}.`) : []
  return tag === undefined
    ? rows
    : rows
        .filter(([name]) => name !== code(`${path}.${tag.member}`))
        .map(([name = '', type = '', need = '', fallback = '', sentence = '']) => [
          name,
          type,
          need,
          fallback,
          `Of ${tag.text}. ${sentence}`.trim(),
        ])
}

const within = (field: JsonSchema, path: string): string[][] => {
  if (field['type'] === 'array') return within(inner(field['items']), `${path}[]`)
  return [
    'properties' in field ? fieldRows(field, `${path}.`) : [],
    ...variantsOf(field).map((variant) => variantRows(variant, path)),
  ].flat()
}

export const fieldTable = (schema: JsonSchema): string => {
  const rows =
    'properties' in schema
      ? fieldRows(schema)
      : within(schema, '').map(([name = '', ...rest]) => [name.replace('`.', '`'), ...rest])
  return table(['field', 'type', '', 'default', 'meaning'], rows)
}
