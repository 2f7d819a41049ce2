/** What callers ask to keep, looked at before anything of it is kept. */
import { looksSecret, object, optional, string, enums, doc } from '../../../core/plugin.js'
import { scopeKinds, type LearningScope } from '../../execution/memory/contract.js'
import { learningErrors } from './errors.js'
import type { EvidenceRef, Learning } from './record.js'

/** Characters. */
export const mostContent = 1600
const workspaceId = 'default'

export const ScopeWish = object({
  kind: enums(scopeKinds),
  id: optional(doc(string({ max: 200 }), 'May be left out for the workspace, whose id is always `default`.')),
})
export type ScopeWish = { readonly kind: LearningScope['kind']; readonly id?: string | undefined }

export const scopeKey = ({ kind, id }: LearningScope): string => `${kind}:${id}`

/** The rule that the id of a scope breaks. */
const scopeFault = ({ kind, id }: ScopeWish): string | undefined => {
  if (kind === 'workspace')
    return id === undefined || id === workspaceId ? undefined : 'must be default for the workspace'
  if (id === undefined || id.trim() === '') return 'must be given and not blank, unless the scope is the workspace'
  return id === id.trim() && !/[\p{Cc}\p{Cs}]/u.test(id)
    ? undefined
    : 'must have no blanks around it and no control characters'
}

/** The scope that is meant; else what is thrown names the field and the rule. */
export const readScope = (
  wish: ScopeWish,
  path: string,
  problem: 'invalid_learning' | 'invalid_learning_filter' = 'invalid_learning',
): LearningScope => {
  const rule = scopeFault(wish)
  if (rule !== undefined) throw learningErrors[problem]({ errors: [{ path, rule }] })
  return { kind: wish.kind, id: wish.id ?? workspaceId }
}

export const refuse = (path: string, rule: string): never => {
  throw learningErrors.invalid_learning({ errors: [{ path, rule }] })
}

/** Content without blanks around it; throws where it is none, or too much. */
export const readContent = (content: string): string => {
  const text = content.trim()
  const { length } = Array.from(text)
  return length > 0 && length <= mostContent
    ? text
    : refuse('body.content', `must have from 1 to ${mostContent} characters, without blanks around them`)
}

export interface SecretGuard {
  tells(text: string): boolean
  /** True of what is said in a learning of the kind, or beside it. */
  inLearning(
    learning: Pick<Learning, 'kind' | 'content'> & { readonly evidence_refs?: readonly EvidenceRef[] | undefined },
  ): boolean
  /** Throws `learning_secret` with the path alone. */
  refuse(text: string | undefined, path: string): void
}

const semantic: ReadonlySet<string> = new Set<Learning['kind']>(['fact', 'preference', 'decision'])

/** `redact` knows the values that the daemon keeps; the rest is known by its shape. */
export const createSecretGuard = (redact: (text: string) => string): SecretGuard => {
  const tells = (text: string): boolean => looksSecret(text) || redact(text) !== text
  return {
    tells,
    inLearning: ({ kind, content, evidence_refs = [] }) =>
      (semantic.has(kind) && tells(content)) || evidence_refs.some(({ note }) => note !== undefined && tells(note)),
    refuse(text, path) {
      if (text === undefined || !tells(text)) return
      throw learningErrors.learning_secret({
        errors: [{ path, rule: 'must not hold what looks like a secret: name where it is kept' }],
      })
    },
  }
}
