# To be sourced. The same sources and the same Go make the same programs byte for byte, whoever builds them: without what Go notes of the
# repository that it finds around the sources, and without the user's own settings.
export GOFLAGS=-buildvcs=false GOAMD64=v1 GOARM64=v8.0 CGO_ENABLED=0
