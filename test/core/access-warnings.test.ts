import test from 'ava'
import { accessWarnings } from '../../core/access-warnings.js'
import { unsafeCast } from '../../core/base/schema.js'
import type { ControlPlaneReport } from '../../core/host/contract.js'

const codes = (report: object, shortest?: number): readonly string[] =>
  accessWarnings(unsafeCast<ControlPlaneReport>({ bind_is_loopback: true, ...report }), shortest).map(
    ({ code }) => code,
  )

test('runtime-10: a short token is warned of where other machines can reach the daemon', (t) => {
  t.deepEqual(codes({}, 15), [])
  t.deepEqual(codes({ bind_is_loopback: false }, 15), ['control_plane_short_token'])
  t.deepEqual(codes({ bind_is_loopback: false }, 16), [])
  t.deepEqual(codes({ bind_is_loopback: false }), [])
})

test('runtime-10: each token file without a token is named', (t) => {
  const files = [
    { role: 'admin', path: '/a', readable: false, token_loaded: false },
    { role: 'read_only', path: '/b', readable: true, token_loaded: false },
    { role: 'admin', path: '/c', readable: true, token_loaded: true },
  ]
  const report = unsafeCast<ControlPlaneReport>({ bind_is_loopback: true, auth_token_files: files })
  t.deepEqual(
    accessWarnings(report, undefined).map(({ message }) => message),
    [
      'The admin token file /a cannot be read, so nobody can call as admin.',
      'The read-only token file /b is empty, so nobody can call with this token.',
    ],
  )
})
