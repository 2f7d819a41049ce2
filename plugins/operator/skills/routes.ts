import {
  array,
  defineRoute,
  doc,
  integer,
  jsonReply,
  object,
  optional,
  string,
  type Route,
} from '../../../core/plugin.js'
import { SkillSummary } from '../../execution/memory/contract.js'
import type { RuntimeSection } from '../runtime/contract.js'
import type { LiveCatalogue } from './catalogue.js'
import { SkillDetail } from './contract.js'
import { skillErrors } from './errors.js'
import type { Rulings } from './rulings.js'

interface SkillRouteParts {
  readonly catalogue: LiveCatalogue
  readonly rulings: Pick<Rulings, 'isShown' | 'fault' | 'missing'>
}

export const skillRoutes = ({ catalogue, rulings }: SkillRouteParts): readonly Route[] => [
  defineRoute({
    id: 'skills.list',
    method: 'GET',
    path: '/v1/skills',
    access: 'read',
    summary: 'The skills that can be used, by name.',
    query: object({
      query: optional(
        doc(string({ max: 2000 }), 'Only skills that have this in name, description or use; case does not count.'),
      ),
    }),
    reply: jsonReply(array(SkillSummary)),
    handler: ({ query: { query } }) =>
      catalogue
        .list(query)
        .filter(rulings.isShown)
        .map(({ summary }) => summary),
  }),
  defineRoute({
    id: 'skills.get',
    method: 'GET',
    path: '/v1/skills/:skill_name',
    access: 'read',
    summary: 'One skill, with its instructions.',
    params: object({ skill_name: string({ min: 1, max: 200 }) }),
    reply: jsonReply(SkillDetail),
    problems: [skillErrors.skill_not_found, skillErrors.skill_changed],
    handler({ params: { skill_name: name } }) {
      const skill = catalogue.find(name)
      const what = skill === undefined ? rulings.missing(name) : rulings.fault(skill)
      if (what !== undefined) throw skillErrors.skill_changed({ details: { name, what } })
      if (skill === undefined || !rulings.isShown(skill)) throw skillErrors.skill_not_found({ details: { name } })
      const { summary, instructions } = skill
      return Object.assign({}, summary, instructions !== '' && { instructions })
    },
  }),
]

/** The member `skills` of `GET /v1/runtime`. */
export const skillsSection = ({ catalogue, rulings }: SkillRouteParts): RuntimeSection => ({
  name: 'skills',
  schema: object({
    loaded_count: doc(integer({ min: 0 }), 'Skills that can be used.'),
    roots: optional(doc(array(string()), 'Folders that skills were found in, the first one first.')),
    warnings: optional(array(string())),
  }),
  collect: () => {
    const { roots, warnings } = catalogue.now
    return {
      loaded_count: catalogue.list().filter(rulings.isShown).length,
      ...(roots.length > 0 && { roots }),
      ...(warnings.length > 0 && { warnings: warnings.map(({ code, message }) => `${code}: ${message}`) }),
    }
  },
})
