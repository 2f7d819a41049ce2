import {
  array,
  collectionSource,
  defaulted,
  defineRoute,
  doc,
  filteredSource,
  holdsText,
  jsonObject,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  searchText,
  string,
  type Ids,
  type Route,
  type Skip,
} from '../../../core/plugin.js'
import { CapabilityScope, sessionErrors } from '../../execution/sessions/contract.js'
import { DefaultSkill, Persona, PersonaSummary } from './contract.js'
import { personaErrors } from './errors.js'
import type { StoredPersona } from './record.js'
import type { PersonaStore } from './store.js'

export interface PersonaRouteParts {
  readonly personas: PersonaStore
  readonly ids: Ids
  readonly skip: Skip
}

const DisplayName = doc(string({ max: 200 }), 'A name for people and models; not blank.')
const Soul = doc(
  string({ max: 200_000 }),
  'What the model is told about who it is. Sessions that are bound keep the text they were bound with.',
)
const fields = {
  capability_scope: optional(
    doc(CapabilityScope, 'What a bound session may see and call at most. Empty for no limit.'),
  ),
  default_skills: optional(
    doc(
      array(DefaultSkill, { max: 100 }),
      'Skills that are in use in every run of a bound session, as they were when it was bound. Empty for none.',
    ),
  ),
  metadata: optional(jsonObject()),
}
const params = object({ persona_id: string({ min: 1, max: 200 }) })
const path = '/v1/personas/:persona_id'

export const personaRoutes = (parts: PersonaRouteParts): readonly Route[] => [
  list(parts),
  create(parts),
  read(parts),
  replace(parts),
]

const list = (parts: PersonaRouteParts): Route =>
  defineRoute({
    id: 'personas.list',
    method: 'GET',
    path: '/v1/personas',
    summary: 'Lists personas by id.',
    access: 'read',
    query: object({
      query: optional(doc(string({ max: 200 }), 'Only personas whose id or display name holds this text.')),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(PersonaSummary)),
    problems: [...pageProblems],
    handler: async ({ query: { query, ...page } }) => {
      const text = searchText(query)
      const all = collectionSource(parts.personas.collection, 'all', 'all')
      const holds = ({ persona_id, display_name }: StoredPersona) => holdsText(text, [persona_id, display_name])
      return listPage({
        query: page,
        source: text === '' ? all : await filteredSource(all, holds, parts.skip),
        label: 'persona_id_asc',
        view: ({ persona_id, display_name, version, created_at_ms, updated_at_ms }) => ({
          persona_id,
          display_name,
          version,
          created_at_ms,
          updated_at_ms,
        }),
        skip: parts.skip,
      })
    },
  })

const create = ({ personas, ids }: PersonaRouteParts): Route =>
  defineRoute({
    id: 'personas.create',
    method: 'POST',
    path: '/v1/personas',
    summary: 'Creates a persona.',
    access: 'admin',
    body: object({
      persona_id: optional(doc(string({ max: 200 }), 'Chosen by the caller, or made by the daemon.')),
      display_name: DisplayName,
      soul: defaulted(Soul, ''),
      ...fields,
    }),
    reply: jsonReply(Persona, 201),
    problems: [personaErrors.invalid_persona_id, personaErrors.invalid_persona, personaErrors.persona_already_exists],
    durability: 'A',
    example: { body: { persona_id: 'reviewer', display_name: 'Reviewer', soul: 'You read code with care.' } },
    handler: ({ body: { persona_id = ids.make('persona'), ...asked } }) => {
      checkId(persona_id)
      return personas.create(persona_id, asked)
    },
  })

const checkId = (persona_id: string): void => {
  if (persona_id.trim() !== '' && persona_id !== '.' && persona_id !== '..' && !/[/\\\p{Cc}\p{Cs}]/u.test(persona_id))
    return
  throw personaErrors.invalid_persona_id({
    errors: [
      {
        path: 'body.persona_id',
        rule: 'must not be empty, "." or "..", and must hold no slash, backslash or control character',
      },
    ],
  })
}

const read = ({ personas }: PersonaRouteParts): Route =>
  defineRoute({
    id: 'personas.get',
    method: 'GET',
    path,
    summary: 'Reads a persona.',
    access: 'read',
    params,
    reply: jsonReply(Persona),
    problems: [sessionErrors.persona_not_found],
    handler: (input) => personas.get(input.params.persona_id),
  })

const replace = ({ personas }: PersonaRouteParts): Route =>
  defineRoute({
    id: 'personas.replace',
    method: 'PUT',
    path,
    summary: 'Replaces the members of a persona that the body names; bound sessions keep what they have.',
    access: 'admin',
    params,
    body: object({ display_name: optional(DisplayName), soul: optional(Soul), ...fields }),
    reply: jsonReply(Persona),
    problems: [sessionErrors.persona_not_found, personaErrors.invalid_persona],
    durability: 'A',
    example: { body: { soul: 'You read code with care and say what is good about it.' } },
    handler: (input) => personas.replace(input.params.persona_id, input.body),
  })
