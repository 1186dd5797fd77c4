import type { TlsIdentity } from './databases-server.js';

/** An identity for `localhost`, signed by itself and good for nothing but tests; valid from 2020 to 2119. */
export const testIdentity: TlsIdentity = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBbTCCAROgAwIBAgIBATAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9mdy1hY3Rp
b25zIHRlc3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBoxGDAW
BgNVBAMMD2Z3LWFjdGlvbnMgdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BF654FsEWmDkEQPIEkfGVuzlX+b7AfiGQRzGsthBmYi/vjssqkgPeWeHV6NbSOec
rcGzdyoBDDF9fDAxeOcwVfmjSDBGMA8GA1UdEwEB/wQFMAMBAf8wFAYDVR0RBA0w
C4IJbG9jYWxob3N0MB0GA1UdDgQWBBQw/UtfveQjQ4ZuIGnwxPx/JOfwQDAKBggq
hkjOPQQDAgNIADBFAiEA+7SIreYnGYTuQqgrcnYI8K8EQZ7zzEZn2wJMCjKEuskC
IEH+mN704fZbYC3TKeq+LpFUM2FJQJMpI02oz1hiJYJT
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtprGY1B6GffFV6qU
0YiEMzH5vP7G0yFFNqcnPU38Z2ChRANCAAReueBbBFpg5BEDyBJHxlbs5V/m+wH4
hkEcxrLYQZmIv747LKpID3lnh1ejW0jnnK3Bs3cqAQwxfXwwMXjnMFX5
-----END PRIVATE KEY-----
`,
};
