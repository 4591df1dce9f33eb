# Install and export of halftone::core. The static dependencies that we built are installed beside it, since a static
# library can't be linked without them; those of the system are looked up again by halftoneConfig.cmake.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(halftone_config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/halftone")
set(halftone_bundle_folder "${CMAKE_INSTALL_LIBDIR}/halftone")

install(TARGETS halftone_core EXPORT halftoneTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT halftoneTargets NAMESPACE halftone:: DESTINATION "${halftone_config_folder}")
install(DIRECTORY src/include/halftone DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_BINARY_DIR}/generated/include/halftone/version.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/halftone")
install(FILES ${HALFTONE_BUNDLED_LIBRARIES} DESTINATION "${halftone_bundle_folder}")

configure_package_config_file(cmake/halftoneConfig.cmake.in "${PROJECT_BINARY_DIR}/halftoneConfig.cmake"
  INSTALL_DESTINATION "${halftone_config_folder}"
  PATH_VARS halftone_bundle_folder
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/halftoneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/halftoneConfig.cmake" "${PROJECT_BINARY_DIR}/halftoneConfigVersion.cmake"
        DESTINATION "${halftone_config_folder}")
