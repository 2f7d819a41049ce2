import test from 'ava'
import fc from 'fast-check'
import type { CapabilityScope } from '../../../../../plugins/execution/sessions/contract.js'
import { capabilityScope as capability, credentialScope as credential } from '../../../../support/scopes.js'
import {
  blankEntry,
  normalNames,
  normalScope,
  permits,
  permitsCapability,
  permitsCredential,
  restrict,
  restrictPair,
  withDefaultDeny,
} from '../../../../../plugins/execution/sessions/settings/scopes.js'

const names = ['a', 'b', 'c', '*']
const list = fc.uniqueArray(fc.constantFrom(...names), { maxLength: 4 })
const pair = fc.record({ allow: list, deny: list })
const asked = fc.constantFrom('a', 'b', 'c', 'd')

test('a list is trimmed, sorted and without repetition, and a star stands alone', (t) => {
  t.deepEqual(normalNames([' b', 'a ', 'b', 'a']), ['a', 'b'])
  t.deepEqual(normalNames(['b', ' * ', 'a']), ['*'])
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', ' a', 'b ', '*', 'c')), (any) => {
      const normal = normalNames(any)
      t.deepEqual(normalNames(normal), normal)
      t.deepEqual([...new Set(normal)].sort(), normal)
    }),
  )
})

test('sessions-15: a name passes if the allow list is empty, holds it or a star, and the deny list holds neither', (t) => {
  t.true(permits({ allow: [], deny: [] }, 'a'))
  t.true(permits({ allow: ['*'], deny: [] }, 'a'))
  t.true(permits({ allow: ['a'], deny: ['b'] }, 'a'))
  t.false(permits({ allow: ['b'], deny: [] }, 'a'))
  t.false(permits({ allow: ['a'], deny: ['a'] }, 'a'))
  t.false(permits({ allow: [], deny: ['*'] }, 'a'))
})

test('a scope that restricts another permits exactly what both permit', (t) => {
  fc.assert(
    fc.property(pair, pair, asked, (baseline, by, name) => {
      t.is(permits(restrictPair(baseline, by), name), permits(baseline, name) && permits(by, name))
    }),
    { numRuns: 5000 },
  )
})

test('sessions-17: two allow lists without a common name permit nothing, where an empty list would permit everything', (t) => {
  t.deepEqual(restrictPair({ allow: ['a'], deny: [] }, { allow: ['b'], deny: [] }), { allow: [], deny: ['*'] })
})

test('restricting is by each kind of name, in any order, and a missing scope restricts nothing', (t) => {
  const persona = capability({ skill_allow: ['a', 'b'], mcp_tool_deny: ['x'] })
  const session = capability({ skill_allow: ['b', 'c'], mcp_tool_deny: ['y'] })
  const both = restrict(persona, session)
  t.deepEqual(both, capability({ skill_allow: ['b'], mcp_tool_deny: ['x', 'y'] }))
  t.deepEqual(restrict(session, persona), both)
  t.is(restrict(undefined, session), session)
  t.is(restrict(persona, undefined), persona)
  t.is(restrict<CapabilityScope>(undefined, undefined), undefined)
  t.true(permitsCapability(both, 'skill', 'b'))
  t.false(permitsCapability(both, 'skill', 'a'))
  t.false(permitsCapability(both, 'mcp_tool', 'x'))
  t.true(permitsCapability(undefined, 'skill', 'a'))
})

test('a scope without an entry is none, and a blank entry is found with its path', (t) => {
  t.is(normalScope(capability()), undefined)
  t.deepEqual(normalScope(capability({ skill_deny: ['*'] })), capability({ skill_deny: ['*'] }))
  t.is(blankEntry(capability({ mcp_tool_deny: ['x', ' '] })), 'mcp_tool_deny.1')
  t.is(blankEntry(capability({ mcp_tool_deny: ['x'] })), undefined)
})

test('credentials of connectors are denied where connectors are scoped and none is allowed by name', (t) => {
  t.true(permitsCredential(credential(), 'connector_credential', 'KEY'))
  for (const scoped of [
    credential({ connector_allow: ['*'] }),
    credential({ connector_allow: ['c'] }),
    credential({ connector_deny: ['d'] }),
  ]) {
    t.false(permitsCredential(scoped, 'connector_credential', 'KEY'))
    t.deepEqual(withDefaultDeny(scoped).connector_credential_deny, ['*'])
    t.true(permitsCredential({ ...scoped, connector_credential_allow: ['KEY'] }, 'connector_credential', 'KEY'))
    t.false(permitsCredential({ ...scoped, connector_credential_allow: ['KEY'] }, 'connector_credential', 'OTHER'))
    t.false(
      permitsCredential(
        { ...scoped, connector_credential_allow: ['*'], connector_credential_deny: ['KEY'] },
        'connector_credential',
        'KEY',
      ),
    )
  }
})
