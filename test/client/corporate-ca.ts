// A company's own CA, which no store knows, and a certificate of it for localhost, until 2126:
//
//   openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500
//     -subj '/CN=Corporate CA' -addext basicConstraints=critical,CA:TRUE
//     -addext keyUsage=critical,keyCertSign -keyout ca.key -out ca.pem
//   openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500
//     -subj /CN=service -addext subjectAltName=DNS:localhost
//     -addext basicConstraints=critical,CA:FALSE -CA ca.pem -CAkey ca.key -keyout leaf.key -out leaf.pem
export const corporateCa = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUbl75QTkTjkzy/HWO/adv1fa0lmIwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMQ29ycG9yYXRlIENBMCAXDTI2MTEyMjE5MTMzN1oYDzIxMjYx
MDI5MTkxMzM3WjAXMRUwEwYDVQQDDAxDb3Jwb3JhdGUgQ0EwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAQTWAFmPT2feHnD364f03Q9qcrWg16IQkn2U+IR31b2mdQ9
fitLP2vcRcLfbonUv7T4DHq2vVSPIPOnKhVmfMnLo2MwYTAdBgNVHQ4EFgQUAKsC
ELA9xuQOrG99EciISlzXO/AwHwYDVR0jBBgwFoAUAKsCELA9xuQOrG99EciISlzX
O/AwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAgQwCgYIKoZIzj0EAwID
SAAwRQIhAPoysdHb51bhcIJP0yAGT1sJEaZ8kWDl0qrBdWZJrL8tAiBQmycQvFqi
NxwdJtdMDUBoO6vxTpuGpLGf1kciFQWX/Q==
-----END CERTIFICATE-----
`;

export const corporateIdentity = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBkzCCATmgAwIBAgIUA+u43pbCyUm5nVn0M86holQTRSYwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMQ29ycG9yYXRlIENBMCAXDTI2MTEyMjE5MTMzN1oYDzIxMjYx
MDI5MTkxMzM3WjASMRAwDgYDVQQDDAdzZXJ2aWNlMFkwEwYHKoZIzj0CAQYIKoZI
zj0DAQcDQgAEdq9tbMy5UMdTC6sjmbmLG2IYYrPV33J1QfEdgxImsCy2+wUo+kn4
Ko2hXsSSnPgxa60w+cQG/Xc9EtIWCrQf3qNmMGQwHQYDVR0OBBYEFCTeRyVaWwP3
qnrJd4fklxSFcN5MMB8GA1UdIwQYMBaAFACrAhCwPcbkDqxvfRHIiEpc1zvwMBQG
A1UdEQQNMAuCCWxvY2FsaG9zdDAMBgNVHRMBAf8EAjAAMAoGCCqGSM49BAMCA0gA
MEUCIA66fFrbgbDGcGWnQa5NNWuPDD4D87SI+3yUhdcM1s8ZAiEAmQh6ITQFP2sT
+NBHaUHBhGkEBcckD2AWd29SwGfAhWg=
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgll+93l7WxOlkOjwk
gbcEldYdCkNmJ4s+gtPgSOrCw5qhRANCAAR2r21szLlQx1MLqyOZuYsbYhhis9Xf
cnVB8R2DEiawLLb7BSj6SfgqjaFexJKc+DFrrTD5xAb9dz0S0hYKtB/e
-----END PRIVATE KEY-----`,
};
