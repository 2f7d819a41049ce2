import test from 'ava'
import { partOf } from '../support/volume.js'
import { hostileSuite } from './hostile-suite.js'

hostileSuite(test, { strings: partOf(24, 3), jsons: partOf(8, 1), bodies: partOf(8, 1), others: 1 })
